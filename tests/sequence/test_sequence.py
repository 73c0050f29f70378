"""SequenceSVC: input as users have it, errors, what scikit-learn expects, and what comes of a fit."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from pegasos import SequenceSVC
from pegasos.solvers import FrankWolfe, Pegasos

WORDS = {"the": "D", "a": "D", "dog": "N", "cat": "N", "walk": "N", "saw": "V", "walks": "V", "sleeps": "V"}


def make_sentences(n=40, seed=0):
    """Words whose class is known, but for `walk`, which is a verb after a noun."""
    random = np.random.default_rng(seed)
    X, y = [], []
    for _ in range(n):
        words, labels = [], []
        for part in "DNVDN"[: random.integers(2, 6)]:
            choices = [word for word, own in WORDS.items() if own == part] + (["walk"] if part == "V" else [])
            words.append(str(random.choice(choices)))
            labels.append(part)
        X.append(words)
        y.append(labels)
    return X, y


def as_strings(sentences):
    return [[[f"w={word}", f"last={word[-1]}"] for word in sentence] for sentence in sentences]


SENTENCES, LABELS = make_sentences()
STRINGS = as_strings(SENTENCES)
DICTS = [[{"w": word, "last": word[-1]} for word in sentence] for sentence in SENTENCES]


def make_arrays(n=30, d=4, K=3, seed=0):
    random = np.random.default_rng(seed)
    W, T = random.normal(size=(d, K)), random.normal(size=(K, K))
    X, y = [], []
    for _ in range(n):
        x, own = random.normal(size=(random.integers(1, 8), d)), []
        for row in x:
            own.append(int((row @ W + (T[own[-1]] if own else 0) + 0.3 * random.normal(size=K)).argmax()))
        X.append(x)
        y.append(own)
    return X, y


ARRAYS, NUMBERS = make_arrays()


class TestInput:
    def test_strings_and_dictionaries_are_the_same(self):
        first = SequenceSVC(tol=1e-6, random_state=0).fit(
            [[[f"w:{w}", f"last:{w[-1]}"] for w in s] for s in SENTENCES], LABELS
        )
        second = SequenceSVC(tol=1e-6, random_state=0).fit(DICTS, LABELS)
        assert first.certificate_.primal == second.certificate_.primal
        assert first.state_features_ == second.state_features_
        assert first.predict(DICTS) == LABELS

    def test_values_of_dictionaries(self):
        X = [
            [{"size": 2.5, "large": True, "small": False, "tags": ["p", "q"], "deep": {"x": 1, "y": "z"}, "none": 0}]
        ] * 2
        model = SequenceSVC(fit_intercept=False).fit(X, [["A"], ["B"]])
        assert model._encoder.names() == ["size", "large", "tags:p", "tags:q", "deep:x", "deep:y:z"]
        row = model._encoder.transform(X, None).X[[0]].toarray()[0]
        np.testing.assert_array_equal(row, [2.5, 1, 1, 1, 1, 1])

    def test_arrays_matrices_and_lengths_are_the_same(self):
        lengths = [len(x) for x in ARRAYS]
        whole, flat = np.vstack(ARRAYS), np.concatenate(NUMBERS)
        models = [
            SequenceSVC(tol=1e-6, random_state=0).fit(ARRAYS, NUMBERS),
            SequenceSVC(tol=1e-6, random_state=0).fit([sp.csr_array(x) for x in ARRAYS], NUMBERS),
            SequenceSVC(tol=1e-6, random_state=0).fit(whole, flat, lengths=lengths),
            SequenceSVC(tol=1e-6, random_state=0).fit(sp.csr_matrix(whole), flat, lengths=lengths),
        ]
        for model in models:
            assert model.certificate_.primal == pytest.approx(models[0].certificate_.primal, rel=1e-5)
        labels = models[2].predict(whole, lengths)
        assert isinstance(labels, np.ndarray)
        np.testing.assert_array_equal(labels, np.concatenate(models[2].predict(ARRAYS)))
        assert models[2].score(whole, flat, lengths=lengths) == models[2].score(ARRAYS, NUMBERS)

    def test_columns_of_a_data_frame(self):
        pd = pytest.importorskip("pandas")
        lengths = [len(x) for x in ARRAYS]
        frame = pd.DataFrame(np.vstack(ARRAYS), columns=list("abcd"))
        model = SequenceSVC(random_state=0).fit(frame, np.concatenate(NUMBERS), lengths=lengths)
        assert len(model.predict(frame, lengths)) == sum(lengths)
        assert {name for name, _ in model.state_features_} == set("abcd")
        with pytest.raises(ValueError, match=r"but the model was trained on \['a', 'b', 'c', 'd'\]"):
            model.predict(frame[list("dcba")], lengths)

    def test_hashed_features(self):
        model = SequenceSVC(hash_bits=12, random_state=0).fit(STRINGS, LABELS)
        assert model.n_features_in_ == 4096
        assert model.predict(STRINGS) == LABELS
        assert all(name.isdigit() for name, _ in model.state_features_)

    def test_rare_features_are_left_out(self):
        X = [*STRINGS, [["w=the", "odd"], ["w=dog"]]]
        model = SequenceSVC(min_count=2).fit(X, [*LABELS, ["D", "N"]])
        assert "odd" not in model._encoder.names()
        assert "odd" in SequenceSVC().fit(X, [*LABELS, ["D", "N"]])._encoder.names()

    def test_unknown_features_count_nothing(self):
        model = SequenceSVC(random_state=0).fit(STRINGS, LABELS)
        assert model.predict([[["w=the", "never seen"]]]) == model.predict([[["w=the"]]])

    def test_positions_without_features_and_empty_sequences(self):
        X = [*STRINGS, [], [[], []]]
        model = SequenceSVC(random_state=0).fit(X, [*LABELS, [], ["D", "N"]])
        assert model.predict([[], [["w=the"]], []]) == [[], ["D"], []]
        assert model.predict([]) == []
        assert [len(own) for own in model.margins([[], [["w=the"]]])] == [0, 1]
        arrays = SequenceSVC(random_state=0).fit([*ARRAYS, np.empty((0, 4))], [*NUMBERS, []])
        assert [len(own) for own in arrays.predict([np.empty((0, 4)), ARRAYS[0]])] == [0, len(ARRAYS[0])]

    def test_sets_tuples_and_generators(self):
        X = (tuple(set(position) for position in sentence) for sentence in STRINGS)
        assert SequenceSVC(random_state=0).fit(X, LABELS).predict(STRINGS) == LABELS

    def test_non_ascii_features(self):
        model = SequenceSVC().fit([[["œuvre"]], [["日本"]]], [["A"], ["B"]])
        assert model.predict([[["日本"]], [["œuvre"]]]) == [["B"], ["A"]]
        assert {name for name, _ in model.state_features_} == {"œuvre", "日本"}


class TestErrors:
    @pytest.mark.parametrize(
        ("X", "y", "options", "message"),
        [
            (STRINGS, LABELS[1:], {}, "X has 40 sequences, but y has 39"),
            (STRINGS, [LABELS[0][:-1], *LABELS[1:]], {}, r"X\[0\] has \d positions, but y\[0\] has \d labels"),
            (STRINGS, None, {}, "requires y to be passed"),
            (STRINGS, "DNV", {}, "y is a str"),
            (STRINGS, ["DN", *LABELS[1:]], {}, r"y\[0\] is 'DN'"),
            ([], [], {}, "no sequences|no labels"),
            ([[]], [[]], {}, "y has no labels: all sequences are empty"),
            ([[["a"], ["b"]]], [["A", "A"]], {}, "one label only, 'A'"),
            ([[["a"], ["b"]]], [["A", 1]], {}, "labels must be strings, or whole numbers"),
            ([[["a"], ["b"]]], [[0.5, 1.5]], {}, "y holds 0.5"),
            ([["word", "other"]], [["A", "B"]], {}, r"X\[0\]\[0\] is a string; a position must be a list of strings"),
            (["word"], [["A", "B"]], {}, r"X\[0\] is a string; a sequence must be a list of positions"),
            ([[["a", 3]]], [["A"]], {}, r"X\[0\]\[0\] holds 3 of type int; .* give a dictionary"),
            ([[{3: 1}]], [["A"]], {}, r"X\[0\]\[0\] has the key 3 of type int; names of features are strings"),
            ([[{"a": None}]], [["A"]], {}, r"has 'a': None of type NoneType; values are numbers, strings"),
            ([[{"a": float("nan")}]], [["A"]], {}, r"has 'a': nan; values must be finite"),
            ([3], [["A"]], {}, r"X\[0\]: a sequence must be a list of positions, not int"),
            (np.zeros((3, 2)), ["A", "B", "A"], {}, "pass lengths="),
            (5, [["A"]], {}, "X is a int; it must be a list of sequences"),
            ([*ARRAYS[:2], np.zeros((2, 7))], [*NUMBERS[:2], [0, 1]], {}, r"X\[2\] has 7 features, where .* have 4"),
            ([ARRAYS[0], [["a"]]], [NUMBERS[0], [0]], {}, r"X\[1\] is no matrix of numbers"),
            (np.zeros((3, 2)), [0, 1, 0], {"lengths": [2, 2]}, "lengths sum to 4, but X has 3 rows"),
            (np.zeros((3, 2)), [0, 1, 0], {"lengths": [4, -1]}, "must be a list of whole numbers"),
            (np.zeros((3, 2)), [0, 1], {"lengths": [3]}, r"y has shape \(2,\), but X has 3 rows"),
            (np.full((3, 2), np.nan), [0, 1, 0], {"lengths": [3]}, "contains NaN: row 0, column 0"),
            (STRINGS, LABELS, {"lengths": [3, 2]}, "lengths are for one matrix of all positions"),
            (np.zeros((3, 2)), [["A", "B"], ["A"]], {"lengths": [2, 1]}, "y is no flat array"),
            ([[["a"], ["b"]]], [["A\0", "B"]], {}, "which an array cannot hold; name it otherwise"),
            ([[["a"], ["b"]]], [[2**63, 1]], {}, "which an array cannot hold"),
            (
                [[["a"], ["b"]]],
                [[2**70, 1]],
                {},
                "y holds the label 1180591620717411303424, which an array cannot hold",
            ),
            ([[["\ud800"]]], [["A"]], {}, r"X\[0\]\[0\] has the string '\\ud800', which is no valid text"),
            (STRINGS, LABELS, {"sample_weight": [1.0]}, r"expected \(40,\); give one weight for each sequence"),
            (STRINGS, LABELS, {"sample_weight": [-1.0] * 40}, r"sample_weight\[0\]=-1.0"),
            (STRINGS, LABELS, {"sample_weight": [0.0] * 40}, "zero or negative weights"),
        ],
    )
    def test_of_fit(self, X, y, options, message):
        with pytest.raises((ValueError, TypeError), match=message):
            SequenceSVC().fit(X, y, **options)

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"C": 0}, "C=0"),
            ({"cost": [[0, 1], [1, 0]]}, "cost must be 3 rows of 3 numbers"),
            ({"constraints": "iob"}, "constraints='iob': must be 'bio'"),
            ({"constraints": ["DN", 3]}, "constraints hold 3"),
            ({"constraints": [("D", "X")]}, "constraints name the label 'X', which is not in y"),
            ({"constraints": [(None, None)]}, "no link of a label"),
            ({"hash_bits": 40}, "hash_bits=40"),
            ({"min_count": 0}, "min_count=0"),
            ({"solver": "sdca"}, "solver='sdca': it is for fit of LinearSVC"),
            ({"solver": FrankWolfe(decodings=0)}, "decodings=0"),
            ({"solver": Pegasos(batch_size=41)}, "batch_size=41 is more than the 40 sequences"),
            (
                {"solver": Pegasos(random_stops=3, average=False)},
                "pegasos does not support random_stops=3 with sequences of labels; it supports 0",
            ),
            (
                {"solver": "pegasos", "warm_start": True},
                "pegasos does not support warm_start=True with sequences of labels",
            ),
        ],
    )
    def test_of_parameters(self, options, message):
        with pytest.raises(ValueError, match=message):
            SequenceSVC(**options).fit(STRINGS, LABELS)

    def test_of_predict(self):
        with pytest.raises(NotFittedError):
            SequenceSVC().predict(STRINGS)
        model = SequenceSVC(random_state=0).fit(ARRAYS, NUMBERS)
        with pytest.raises(ValueError, match="X has 7 features, but SequenceSVC is expecting 4 features"):
            model.predict([np.zeros((2, 7))])
        with pytest.raises(ValueError, match=r"X\[0\] is no matrix of numbers"):
            model.predict(STRINGS)
        strings = SequenceSVC(random_state=0).fit(STRINGS, LABELS)
        with pytest.raises(ValueError, match="trained on strings or dictionaries"):
            strings.predict(ARRAYS)
        with pytest.raises(ValueError, match="nothing to score"):
            strings.score([[]], [[]])
        with pytest.raises(ValueError, match="zero or negative weights"):
            strings.score([[], STRINGS[0]], [[], LABELS[0]], sample_weight=[1.0, 0.0])
        with pytest.raises(ValueError, match=r"sample_weight\[1\]=inf: weights must be finite"):
            strings.score(STRINGS[:2], LABELS[:2], sample_weight=[1.0, np.inf])


class Tells(list):
    """A list that tells another length than it has."""

    length = 1000

    def __len__(self):
        return self.length


class ChangesX:
    """A number that calls a function before it tells what it is."""

    def __init__(self, change):
        self.change = change

    def __float__(self):
        self.change()
        return 1.0


class TestObjectsThatMislead:
    """Collections are read for what they hold, not for what they say they do."""

    @pytest.mark.parametrize("length", [1000, 0, 1])
    def test_lengths(self, monkeypatch, length):
        monkeypatch.setattr(Tells, "length", length)
        clf = SequenceSVC(random_state=0).fit(STRINGS, LABELS)
        expected = clf.predict(STRINGS)
        for X in (
            Tells(STRINGS),
            [Tells(sequence) for sequence in STRINGS],
            [[Tells(position) for position in sequence] for sequence in STRINGS],
            [[{"": Tells(position)} for position in sequence] for sequence in STRINGS],
        ):
            found = clf.predict(X)
            assert [len(labels) for labels in found] == [len(labels) for labels in expected]
            assert found == expected or "" in X[0][0]
        again = SequenceSVC(random_state=0).fit(STRINGS, [Tells(labels) for labels in LABELS])
        assert again.predict(STRINGS) == expected

    def test_dictionaries_that_change_meanwhile(self):
        clf = SequenceSVC(random_state=0).fit(STRINGS, LABELS)
        position = {f"w={k} {'long' * k}": "the" for k in range(100)}
        position["tuple"] = tuple(f"{k} {'long' * k}" for k in range(100))

        def replace():
            names = list(position)
            position.clear()
            position.update({"other" + name: "" for name in names})

        position["number"] = ChangesX(replace)
        assert len(clf.predict([[position]])[0]) == 1
        position["number"] = ChangesX(position.clear)
        with pytest.raises(RuntimeError, match="changed its size"):
            clf.predict([[position]])

    def test_lists_that_change_meanwhile(self):
        sequence = [["w=the"], ["w=dog"]]
        sequence += [{"number": ChangesX(sequence.clear)}, ["w=cat"]]
        clf = SequenceSVC(random_state=0).fit(STRINGS, LABELS)
        assert len(clf.predict([sequence])[0]) == 3


class TestConstraints:
    LABELS = (("B-NP", "I-NP", "O"), ("B-VP", "O", "B-NP"))
    X = ([["a"], ["b"], ["c"]], [["d"], ["c"], ["a"]])

    def test_bio_is_kept(self):
        random = np.random.default_rng(0)
        model = SequenceSVC(constraints="bio", random_state=0).fit(list(self.X), list(self.LABELS))
        for _ in range(50):
            sequence = [[str(random.choice(list("abcd")))] for _ in range(6)]
            (labels,) = model.predict([sequence])
            for before, after in zip(["O", *labels], labels, strict=False):
                assert after != "I-NP" or before in ("B-NP", "I-NP")
        assert model.transition_features_["O", "I-NP"] == -np.inf
        assert model.certificate_.converged

    def test_a_breach_names_the_sequence(self):
        broken = [*self.LABELS, ["O", "I-NP"]]
        with pytest.raises(ValueError, match=r"y\[2\] has the label 'I-NP' after 'O', at position 1"):
            SequenceSVC(constraints="bio").fit([*self.X, [["a"], ["b"]]], broken)
        with pytest.raises(ValueError, match=r"y\[2\] has the label 'I-NP' at the start, at position 0"):
            SequenceSVC(constraints="bio").fit([*self.X, [["a"]]], [*self.LABELS, ["I-NP"]])
        with pytest.raises(ValueError, match=r"y\[0\] has the label 'O' at the end, at position 2"):
            SequenceSVC(constraints=[("O", None)]).fit(list(self.X), list(self.LABELS))

    def test_pairs(self):
        model = SequenceSVC(constraints=[("N", "D"), (None, "V")], random_state=0)
        assert model.fit(STRINGS, LABELS).transitions_[1, 0] == -np.inf
        assert model.start_[2] == -np.inf
        assert model.predict([[["w=saw"]]])[0] != ["V"]
        ends = SequenceSVC(constraints=[("A", None)]).fit([[["a"], ["b"]]], [["A", "B"]])
        assert ends.end_[0] == -np.inf
        assert ends.predict([[["a"]]]) == [["B"]]

    def test_numbers_as_labels(self):
        with pytest.raises(ValueError, match="constraints='bio' is for labels such as"):
            SequenceSVC(constraints="bio").fit(ARRAYS, NUMBERS)


class TestFit:
    @pytest.mark.parametrize("solver", ["auto", "frank-wolfe", "pegasos", Pegasos(batch_size=4, project=True)], ids=str)
    def test_solvers_agree(self, solver):
        exact = SequenceSVC(C=0.2, tol=1e-8, random_state=0).fit(ARRAYS, NUMBERS)
        model = SequenceSVC(C=0.2, tol=1e-3, solver=solver, random_state=0, max_iter=100_000).fit(ARRAYS, NUMBERS)
        assert model.certificate_.gap <= 1e-3
        assert model.certificate_.primal == pytest.approx(exact.certificate_.primal, rel=1e-3)
        assert model.certificate_.dual <= exact.certificate_.primal
        assert model.history_["gap"][-1] == model.certificate_.gap

    def test_alpha_and_C(self):
        first = SequenceSVC(alpha=0.1, tol=1e-6, random_state=0).fit(ARRAYS, NUMBERS)
        second = SequenceSVC(C=1 / (0.1 * len(ARRAYS)), tol=1e-6, random_state=0).fit(ARRAYS, NUMBERS)
        np.testing.assert_array_equal(first.coef_, second.coef_)

    def test_same_seed_same_model(self):
        for n_jobs in (1, 2):
            first, second = (SequenceSVC(C=0.5, n_jobs=n_jobs, random_state=3).fit(ARRAYS, NUMBERS) for _ in range(2))
            np.testing.assert_array_equal(first.coef_, second.coef_)

    def test_a_cost_that_forbids_one_error(self):
        X, y = make_arrays(n=200, seed=3)
        plain = SequenceSVC(C=0.1, random_state=0).fit(X, y)
        cost = 1.0 - np.eye(3)
        cost[0, 1] = 20
        careful = SequenceSVC(C=0.1, cost=cost, random_state=0).fit(X, y)

        def errors(model):
            found = np.concatenate(model.predict(X))
            return int(((np.concatenate(y) == 0) & (found == 1)).sum())

        assert errors(careful) < errors(plain)

    def test_warm_start_continues(self):
        model = SequenceSVC(C=0.3, tol=1e-6, warm_start=True, random_state=0).fit(ARRAYS, NUMBERS)
        first = model.n_iter_
        model.set_params(C=0.31).fit(ARRAYS, NUMBERS)
        cold = SequenceSVC(C=0.31, tol=1e-6, random_state=0).fit(ARRAYS, NUMBERS)
        assert model.certificate_.primal == pytest.approx(cold.certificate_.primal, rel=1e-5)
        assert model.set_params(C=0.31).fit(ARRAYS, NUMBERS).n_iter_ < first
        with pytest.raises(ValueError, match="the labels changed"):
            model.fit(ARRAYS, [[label + 1 for label in own] for own in NUMBERS])
        strings = SequenceSVC(warm_start=True, random_state=0).fit([[["a"], ["b"]]], [["x", "y"]])
        others = [[["c"], ["d"]], [["d"], ["c"]]]
        assert strings.fit(others, [["x", "y"], ["y", "x"]]).predict(others) == [["x", "y"], ["y", "x"]]
        model.fit(ARRAYS[:10], NUMBERS[:10])  # others: from the start
        assert model.certificate_.converged

    def test_budgets(self):
        with pytest.warns(ConvergenceWarning, match="max_iter epochs was used up"):
            model = SequenceSVC(C=100, max_iter=2, tol=1e-9, random_state=0).fit(ARRAYS, NUMBERS)
        assert model.certificate_.reason == "max_iter"
        assert model.n_iter_ == 2
        with pytest.warns(ConvergenceWarning, match="max_steps"):
            model = SequenceSVC(solver=Pegasos(max_steps=5), tol=1e-9).fit(ARRAYS, NUMBERS)
        assert model.certificate_.reason == "max_steps"

    @pytest.mark.parametrize("solver", ["frank-wolfe", "pegasos"])
    def test_a_time_limit(self, ticks, solver):
        X, y = make_arrays(n=300, seed=5)
        model = SequenceSVC(C=1e6, tol=0, max_iter=10**9, max_time=0.2, solver=solver).fit(X, y)
        assert model.certificate_.reason == "max_time"
        assert 0.2 <= model.certificate_.seconds < 1

    def test_weights_of_zero(self):
        weights = np.ones(len(ARRAYS))
        weights[:5] = 0
        model = SequenceSVC(tol=1e-6, random_state=0).fit(ARRAYS, NUMBERS, sample_weight=weights)
        without = SequenceSVC(tol=1e-6, random_state=0).fit(ARRAYS[5:], NUMBERS[5:])
        assert model.certificate_.primal == pytest.approx(without.certificate_.primal, rel=1e-5)

    def test_nothing_to_learn_from(self):
        model = SequenceSVC(tol=1e-9).fit([[], [["a"], ["b"]]], [[], ["A", "B"]], sample_weight=[1.0, 0.0])
        assert model.certificate_.primal == 0
        assert not model.coef_.any()

    def test_verbose(self, capsys):
        SequenceSVC(verbose=1).fit(STRINGS, LABELS)
        assert "gap" in capsys.readouterr().err

    def test_context_decides(self):
        model = SequenceSVC(random_state=0).fit(STRINGS, LABELS)
        assert model.predict(as_strings([["the", "walk"], ["a", "dog", "walk"]])) == [["D", "N"], ["D", "N", "V"]]


class TestAttributes:
    model = SequenceSVC(random_state=0).fit(STRINGS, LABELS)

    def test_shapes(self):
        K, d = 3, self.model.n_features_in_
        assert self.model.classes_.tolist() == ["D", "N", "V"]
        assert self.model.coef_.shape == (K, d)
        assert self.model.intercept_.shape == self.model.start_.shape == self.model.end_.shape == (K,)
        assert self.model.transitions_.shape == (K, K)

    def test_inspection(self):
        assert self.model.state_features_["w=the", "D"] > 0
        assert len(self.model.transition_features_) == 9
        assert self.model.transition_features_["D", "N"] > self.model.transition_features_["D", "V"]

    def test_scores_and_margins(self):
        scores, margins = self.model.decision_function(STRINGS), self.model.margins(STRINGS)
        for own, table, margin in zip(self.model.predict(STRINGS), scores, margins, strict=True):
            assert self.model.classes_[table.argmax(axis=1)].tolist() == own
            assert table.max(axis=1) == pytest.approx(table.max())
            ordered = np.sort(table, axis=1)
            np.testing.assert_allclose(margin, ordered[:, -1] - ordered[:, -2])

    def test_score_counts_unseen_labels_as_wrong(self):
        assert self.model.score(STRINGS, LABELS) == 1
        y = [["X"] * len(own) for own in LABELS]
        assert self.model.score(STRINGS, y) == 0

    def test_parameters_set_later_do_not_matter(self):
        model = SequenceSVC(random_state=0).fit(STRINGS, LABELS)
        scores = model.decision_function(STRINGS)
        for first, second in zip(scores, model.set_params(fit_intercept=False).decision_function(STRINGS), strict=True):
            np.testing.assert_array_equal(first, second)

    def test_switches(self):
        model = SequenceSVC(fit_intercept=False, boundaries=False, random_state=0).fit(STRINGS, LABELS)
        assert not model.intercept_.any()
        assert not model.start_.any()
        assert not model.end_.any()


class TestScikitLearn:
    def test_clone_and_pickle(self):
        model = SequenceSVC(C=0.5, constraints=[("N", "D")], solver=FrankWolfe(decodings=2))
        again = clone(model)
        assert again.get_params()["solver__decodings"] == 2
        fitted = pickle.loads(pickle.dumps(SequenceSVC(random_state=0).fit(STRINGS, LABELS)))
        assert fitted.predict(STRINGS) == LABELS
        assert fitted.state_features_

    def test_a_pipeline_in_a_grid(self):
        pipeline = make_pipeline(FunctionTransformer(as_strings), SequenceSVC(random_state=0))
        grid = GridSearchCV(pipeline, {"sequencesvc__C": [0.01, 1.0]}, cv=3).fit(SENTENCES, LABELS)
        assert grid.best_score_ > 0.9
        assert cross_val_score(pipeline, SENTENCES, LABELS, cv=3).min() > 0.8

    def test_repr(self):
        assert repr(SequenceSVC(C=2.0)) == "SequenceSVC(C=2.0)"
