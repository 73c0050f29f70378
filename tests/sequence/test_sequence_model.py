"""Model files of SequenceSVC: what is saved comes back, and nothing else gets in."""

import json
import random
from contextlib import suppress

import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import load_file, save_file
from sequence_helpers import as_arrays, as_dicts, as_strings, labels, make_sentences
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from pegasos import SequenceSVC
from pegasos.io import load_model, save_model
from pegasos.sequence.templates import Template
from pegasos.solvers import FrankWolfe, Pegasos

SENTENCES = make_sentences(40)
STRINGS, DICTS, ARRAYS = as_strings(SENTENCES), as_dicts(SENTENCES), as_arrays(SENTENCES)
NUMBERS = [[len(label) for label in own] for own in STRINGS[1]]  # 1 for O, and 3
DATA = {"strings": STRINGS, "dicts": DICTS, "arrays": ARRAYS, "numbers": (STRINGS[0], NUMBERS)}
COST = np.where(np.eye(5) == 1, 0.0, 2.0).tolist()


@pytest.mark.parametrize(
    ("model", "data"),
    [
        (SequenceSVC(), "strings"),
        (SequenceSVC(min_count=3, alpha=0.01, boundaries=False), "strings"),
        (SequenceSVC(min_count=10**6, fit_intercept=False), "strings"),  # no features at all
        (SequenceSVC(hash_bits=6), "strings"),
        (SequenceSVC(solver=FrankWolfe(decodings=2), cost=COST), "dicts"),
        (SequenceSVC(hash_bits=10), "dicts"),
        (SequenceSVC(solver=Pegasos(batch_size=4), tol=0.1), "arrays"),
        (SequenceSVC(constraints="bio"), "strings"),
        (SequenceSVC(constraints=[("O", "I-X"), (None, "I-X"), ("I-Y", "I-X")]), "strings"),
        (SequenceSVC(constraints=[], warm_start=False), "numbers"),
    ],
    ids=str,
)
def test_round_trip(tmp_path, model, data):
    X, y = DATA[data]
    model.set_params(random_state=0).fit(X, y)
    save_model(model, tmp_path / "m")
    loaded = load_model(tmp_path / "m")
    assert type(loaded) is SequenceSVC
    assert_same_predictions(loaded, model, X)
    assert loaded.state_features_ == model.state_features_
    assert loaded.transition_features_ == model.transition_features_
    assert loaded.classes_.dtype == model.classes_.dtype
    assert repr(loaded) == repr(model)
    assert loaded.certificate_ == model.certificate_
    assert (loaded.n_iter_, loaded.n_features_in_) == (model.n_iter_, model.n_features_in_)
    np.testing.assert_array_equal(loaded.history_["gap"], model.history_["gap"])
    assert not any(name.startswith("dual.") for name in load_file(tmp_path / "m"))


def assert_same_predictions(loaded, model, X):
    for method in ("predict", "decision_function", "margins"):
        for own, before in zip(getattr(loaded, method)(X), getattr(model, method)(X), strict=True):
            np.testing.assert_array_equal(own, before)


def test_numpy_numbers(tmp_path):
    save_model(SequenceSVC(hash_bits=np.int64(5), min_count=np.int64(2)).fit(*STRINGS), tmp_path / "m")
    assert load_model(tmp_path / "m").n_features_in_ == 32


def test_links_of_numbers(tmp_path):
    X, y = [[["a"], ["b"]], [["b"], ["a"], ["b"]]], [[3, 1], [1, 3, 1]]
    model = SequenceSVC(constraints=[(np.int64(3), None), (1, 1)], random_state=0).fit(X, y)
    save_model(model, tmp_path / "m")
    assert load_model(tmp_path / "m").constraints == [(3, None), (1, 1)]
    assert_same_predictions(load_model(tmp_path / "m"), model, X)


def test_a_matrix_with_lengths(tmp_path):
    X, y, lengths = np.concatenate(ARRAYS[0]), np.concatenate(NUMBERS), [len(own) for own in NUMBERS]
    model = SequenceSVC(random_state=0).fit(X, y, lengths=lengths)
    save_model(model, tmp_path / "m")
    loaded = load_model(tmp_path / "m")
    np.testing.assert_array_equal(loaded.predict(X, lengths), model.predict(X, lengths))
    with pytest.raises(ValueError, match="X has 2 features, but SequenceSVC is expecting 3 features"):
        loaded.predict(X[:, :2], lengths)


@pytest.mark.parametrize("given", [(("O", "I-X"), ["O", "I-Y"]), {("O", "I-X"), ("O", "I-Y")}])
def test_constraints_come_back_as_a_list_of_tuples(tmp_path, given):
    save_model(SequenceSVC(constraints=given).fit(*STRINGS), tmp_path / "m")
    assert sorted(load_model(tmp_path / "m").constraints) == [("O", "I-X"), ("O", "I-Y")]


@pytest.mark.parametrize("constraints", [None, "bio"])
def test_a_loaded_model_continues(tmp_path, constraints):
    model = SequenceSVC(C=10.0, warm_start=True, tol=1e-6, random_state=0, constraints=constraints).fit(*STRINGS)
    save_model(model, tmp_path / "m")
    loaded = load_model(tmp_path / "m")
    for part, before in zip(loaded._last, model._last, strict=True):
        np.testing.assert_array_equal(part, before)
    assert loaded.fit(*STRINGS).n_iter_ < model.n_iter_
    assert loaded.certificate_.converged
    np.testing.assert_array_equal(loaded.coef_, model.fit(*STRINGS).coef_)


def test_a_model_without_a_dual_point_starts_anew(tmp_path):
    save_model(SequenceSVC(random_state=0).fit(*STRINGS), tmp_path / "m")
    loaded = load_model(tmp_path / "m").set_params(warm_start=True)
    assert loaded.fit(*STRINGS).certificate_.converged


@pytest.mark.parametrize("text", ["U:%x[0,0]\nU1:%x[1,0]", ["U:%x[0,0]", "# more", "U:%x[-1,0]"]])
def test_a_pipeline_with_a_template(tmp_path, text):
    columns = [[(word, word[0]) for word, _ in sentence] for sentence in SENTENCES]
    pipeline = make_pipeline(Template(text), SequenceSVC(random_state=0)).fit(columns, labels(SENTENCES))
    save_model(pipeline, tmp_path / "m")
    loaded = load_model(tmp_path / "m")
    assert loaded.predict(columns) == pipeline.predict(columns)
    assert (loaded[0].text, loaded[0].n_columns, loaded[0].n_features_in_) == (text, 1, 2)


def test_other_pipelines_are_refused(tmp_path):
    pipeline = make_pipeline(FunctionTransformer(), SequenceSVC()).fit(*STRINGS)
    with pytest.raises(TypeError, match="those of a Template and a SequenceSVC"):
        save_model(pipeline, tmp_path / "m")


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    path = tmp_path_factory.mktemp("models") / "chunks.model"
    model = SequenceSVC(constraints=[("O", "I-X")], warm_start=True, random_state=0, tol=1e-4)
    columns = [[(word,) for word, _ in sentence] for sentence in SENTENCES]
    save_model(make_pipeline(Template.window(1), model).fit(columns, labels(SENTENCES)), path)
    return path


def rewrite(path, target, change):
    with safe_open(path, framework="numpy") as file:
        metadata = file.metadata()
    tensors, header = load_file(path), json.loads(metadata["header"])
    del metadata["checksum"]
    change(tensors, header)
    save_file(tensors, target, metadata={**metadata, "header": json.dumps(header)})


def set_entry(name, place, value):
    return lambda tensors, header: tensors[name].__setitem__(place, value)


def set_tensor(name, make):
    return lambda tensors, header: tensors.update({name: np.ascontiguousarray(make(tensors[name]))})


def set_encoder(name, value):
    return lambda tensors, header: header["encoder"].update({name: value})


def set_parameter(name, value):
    return lambda tensors, header: header["parameters"].update({name: value})


def test_another_hash_is_refused(tmp_path):
    save_model(SequenceSVC(hash_bits=5).fit(*STRINGS), tmp_path / "m")
    rewrite(tmp_path / "m", tmp_path / "other", set_encoder("hash", "murmur3"))
    with pytest.raises(ValueError, match="features hashed by 'murmur3', and this version has 'xxh3-64' alone"):
        load_model(tmp_path / "other")


@pytest.mark.parametrize(
    "change",
    [
        set_entry("coef", (0, 0), np.nan),
        set_entry("coef", (0, 0), -np.inf),
        set_tensor("coef", lambda t: t[:, :-1]),
        set_tensor("coef", lambda t: t[:-1]),
        set_tensor("coef", lambda t: t.astype(np.float32)),
        set_entry("intercept", 0, -np.inf),
        set_tensor("intercept", lambda t: t[:-1]),
        set_entry("transitions", (0, 0), -np.inf),
        set_entry("transitions", (0, 0), np.nan),
        set_entry("transitions", (0, 0), np.inf),
        set_entry("transitions", (4, 2), 0.0),  # which is forbidden
        set_tensor("transitions", lambda t: t[:, :-1]),
        set_entry("start", 0, -np.inf),
        set_entry("end", 0, np.nan),
        set_tensor("end", lambda t: t[:-1]),
        set_tensor("vocabulary.ends", lambda t: t[::-1]),
        set_tensor("vocabulary.ends", lambda t: t - 100),
        set_tensor("vocabulary.ends", lambda t: t[:-1]),
        set_tensor("vocabulary.ends", lambda t: np.r_[t[:-1], 2**62]),
        set_tensor("vocabulary.ends", lambda t: t.astype(np.uint64)),
        set_tensor("vocabulary.characters", lambda t: t[:-1]),
        set_tensor("vocabulary.characters", lambda t: np.zeros_like(t)),
        set_tensor("vocabulary.characters", lambda t: t.astype(np.int8)),
        lambda tensors, header: tensors.pop("vocabulary.ends"),
        set_encoder("kind", "strings"),
        set_encoder("kind", ["features"]),
        set_encoder("min_count", 0),
        set_encoder("hash_bits", 4),
        set_encoder("hash_bits", 60),
        lambda tensors, header: header.update(encoder="features"),
        lambda tensors, header: header.pop("encoder"),
        set_entry("dual.owners", 0, 1),
        set_entry("dual.owners", -1, 2**32 - 1),
        set_entry("dual.owners", -1, 0),
        set_tensor("dual.owners", lambda t: t[:-1]),
        set_tensor("dual.owners", lambda t: t.astype(np.int64)),
        set_entry("dual.shares", 0, np.nan),
        set_entry("dual.shares", 0, -0.5),
        set_entry("dual.shares", 0, 1e300),
        set_entry("dual.labels", 0, 5),
        set_tensor("dual.labels", lambda t: t.astype(np.int16)),
        lambda tensors, header: tensors.pop("dual.labels"),
        lambda tensors, header: tensors.pop("history"),
        lambda tensors, header: header["classes"].pop(),
        lambda tensors, header: tensors.update(classes=np.arange(5.0)),
        lambda tensors, header: header["certificate"].update(parts=[dict(header["certificate"])]),
        set_parameter("constraints", None),
        set_parameter("constraints", "bio"),
        set_parameter("constraints", 3),
        set_parameter("constraints", [3]),
        set_parameter("constraints", [["O", "I-Z"]]),
        set_parameter("constraints", [["O", {}]]),
        set_parameter("constraints", [["O", "I-X", "I-X"]]),
        set_parameter("cost", [[0, 1], [1, 0]]),
        set_parameter("cost", [[-1] * 5] * 5),
        set_parameter("solver", "sdca"),
        set_parameter("solver", {"name": "frank-wolfe", "options": {"decodings": 0}}),
        set_parameter("solver", "pegasos"),  # which warm_start does not go with
        lambda tensors, header: header.update(estimator="LinearSVC"),
        lambda tensors, header: header.update(template={"text": "U:%x[", "columns": 1}),
        lambda tensors, header: header.update(template={"text": 3, "columns": 1}),
        lambda tensors, header: header.update(template={"text": {"U": 1}, "columns": 1}),
        lambda tensors, header: header.update(template={"text": "U:%x[0,1]", "columns": 1}),
        lambda tensors, header: header.update(template={"text": "U:%x[0,1]"}),
        lambda tensors, header: header.update(template="U:%x[0,1]"),
    ],
)
def test_damage_is_found(saved, tmp_path, change):
    load_model(saved)
    rewrite(saved, tmp_path / "damaged.model", change)
    with pytest.raises(ValueError, match=r"damaged\.model: "):
        load_model(tmp_path / "damaged.model")


def test_a_template_before_another_machine_is_refused(tmp_path):
    from pegasos import LinearSVC

    save_model(LinearSVC().fit([[0.0], [1.0]], [0, 1]), tmp_path / "m")
    template = {"text": "U", "columns": 0}
    rewrite(tmp_path / "m", tmp_path / "n", lambda tensors, header: header.update(template=template))
    with pytest.raises(ValueError, match="of which a LinearSVC has no use"):
        load_model(tmp_path / "n")


def test_bytes_at_random(saved, tmp_path):
    """Without its checksum, a file with some bytes changed is refused, or is a model that predicts and continues
    without harm."""
    rewrite(saved, tmp_path / "m", lambda tensors, header: None)
    whole, X, y = (tmp_path / "m").read_bytes(), [[(word,) for word, _ in own] for own in SENTENCES], labels(SENTENCES)
    dice, path, loaded = random.Random(0), tmp_path / "m", 0
    for _ in range(300):
        damaged = bytearray(whole)
        for _ in range(dice.choice([1, 1, 4])):
            damaged[dice.randrange(len(whole))] = dice.randrange(256)
        path.write_bytes(damaged)
        try:
            model = load_model(path)
        except ValueError as error:
            if str(path) not in str(error):
                raise
            continue
        loaded += 1
        model[-1].set_params(n_jobs=1, max_iter=1, tol=0)
        assert {label for own in model.predict(X) for label in own} <= set(model[-1].classes_.tolist())
        with suppress(ValueError):  # of labels that are others now
            model.fit(X, y)
    assert loaded
