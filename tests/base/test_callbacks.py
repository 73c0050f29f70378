"""Callbacks of scikit-learn: what they are told of a fit, and what they may do to it."""

import copy
import pickle
import threading
from functools import partial

import numpy as np
import pytest
from fit_helpers import sequences, vectors
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import pegasos
from pegasos import SVC, SVR, FeatureMapSVC, LinearSVC, LinearSVCCV, LinearSVR, SequenceSVC
from pegasos.io import load_model, open_dataset, save_model, write_dataset

callback = pytest.importorskip("sklearn.callback")  # scikit-learn 1.9

ENDLESS = {"tol": 1e-18, "max_iter": 10**6, "random_state": 0}


def feature_map(x, k):
    return x * (k + 1.0)


class Recorder:
    """Keeps what it is told; `stop_at` is the check of each problem that it ends it at."""

    def __init__(self, stop_at=None):
        self.stop_at = stop_at
        self.events, self.ended = [], []

    def setup(self, estimator, context):
        self.events.append("setup")

    def teardown(self, estimator, context):
        self.events.append("teardown")

    def on_fit_task_begin(self, estimator, context, *, X=None, y=None):
        self.events.append(("begin", path(context), context.task_name))

    def on_fit_task_end(self, estimator, context, *, X=None, y=None, metadata=None, fitted_estimator=None):
        self.events.append(("end", path(context), context.task_name))
        self.ended.append((path(context), context, X, y, metadata, fitted_estimator))
        return context.task_name == "check" and context.task_id + 1 == self.stop_at

    def tasks(self, event="end"):
        return [name for kind, _, name in self.events[1:-1] if kind == event]

    def last_checks(self):
        """Of each problem what was told of its last check, in their order."""
        found = {where[:-1]: rest for where, *rest in self.ended if rest[0].task_name == "check"}
        return [found[where] for where in sorted(found)]


class Propagated(Recorder):
    """One that searches and pipelines pass on."""

    max_propagation_depth = None


def path(context):
    return ((*path(context.parent), context.task_id)) if context.parent else (context.task_id,)


def check_nesting(events):
    """Each task begins once and ends once, within the one that it is of."""
    assert (events[0], events[-1]) == ("setup", "teardown")
    standing, seen = [], set()
    for kind, where, _ in events[1:-1]:
        if kind == "begin":
            assert where not in seen
            assert where[:-1] in standing or len(where) == 1
            seen.add(where)
            standing.append(where)
        else:
            assert not any(other[:-1] == where for other in standing)
            standing.remove(where)
    assert not standing


ESTIMATORS = {
    "linear": (LinearSVC(), vectors()),
    "joint": (LinearSVC(multi_class="joint"), vectors(3)),
    "log loss": (LinearSVC(loss="log_loss", solver="pegasos"), vectors()),
    "scaled": (LinearSVC(scale=True), vectors()),
    "early stopping": (LinearSVC(solver="pegasos", early_stopping=True), vectors()),
    "regression": (LinearSVR(), vectors()),
    "kernel": (SVC(), vectors()),
    "scaled kernel": (SVC(scale=True), vectors()),
    "precomputed": (SVC(kernel="precomputed"), (lambda X, y: (X @ X.T, y))(*vectors())),
    "function": (SVC(kernel=lambda X, Z: X @ Z.T), vectors()),
    "kernel regression": (SVR(), vectors()),
    "sequences": (SequenceSVC(), sequences()),
    "feature map": (FeatureMapSVC(feature_map), vectors(n=50)),
}


@pytest.mark.parametrize("case", ESTIMATORS)
def test_one_problem(case):
    model, (X, y) = ESTIMATORS[case]
    model = clone(model).set_params(random_state=0) if hasattr(model, "random_state") else clone(model)
    alone, heard, recorder = clone(model).fit(X, y), [], Recorder()
    with pegasos.listen(heard.append):
        model.set_callbacks(recorder).fit(X, y)
    check_nesting(recorder.events)
    assert recorder.tasks() == ["check"] * len(heard) + ["fit"]
    (_, X_told, y_told, metadata, last) = recorder.last_checks()[0]
    assert X_told is X
    assert y_told is y
    assert metadata == {}
    whole = recorder.ended[-1][-1]
    for fitted in (last, whole):
        assert type(fitted) is type(model)
        assert fitted is not model
    assert last.certificate_.gap == heard[-1].gap
    assert len(last.history_["gap"]) == len(heard)
    predict = "predict" if not hasattr(model, "decision_function") else "decision_function"
    for fitted in (alone, whole):  # a callback changes nothing
        np.testing.assert_array_equal(getattr(model, predict)(X), getattr(fitted, predict)(X))
    if case != "early stopping":  # which returns to the best epoch
        np.testing.assert_allclose(getattr(last, predict)(X), getattr(model, predict)(X), rtol=1e-2, atol=1e-2)
    assert not [name for name in vars(model) if "callback_fit" in name]


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("case", ["linear", "shared", "rest", "pairs"])
def test_each_class_is_a_task(case, n_jobs):
    X, y = vectors(3)
    labels = np.array(["a", "b", "c"])
    models = {
        "linear": LinearSVC(solver="pegasos"),
        "shared": LinearSVC(loss="log_loss"),
        "rest": SVC(multi_class="ovr"),
        "pairs": SVC(decision_function_shape="ovo"),
    }
    recorder, model = Recorder(), models[case].set_params(n_jobs=n_jobs, random_state=0)
    weights = np.linspace(0.5, 1.5, len(y))
    model.set_callbacks(recorder).fit(X, labels[y], sample_weight=weights)
    check_nesting(recorder.events)
    names = [name for name in recorder.tasks() if name not in ("check", "fit")]
    pairs = [(0, 1), (0, 2), (1, 2)]
    expected = [f"'{labels[i]}' against '{labels[j]}'" for i, j in pairs] if case == "pairs" else ["'a'", "'b'", "'c'"]
    assert sorted(names) == expected
    root = recorder.ended[-1][1]
    assert root.max_subtasks == 3
    assert [child.task_name for _, child in sorted(root._children_map.items())] == expected
    scores = model.decision_function(X)
    for k, (_, X_told, y_told, metadata, fitted) in enumerate(recorder.last_checks()):
        if case == "pairs":
            rows, sign = np.isin(y, pairs[k]), -1
            np.testing.assert_array_equal(y_told, labels[y][rows])
            assert fitted.classes_.tolist() == labels[list(pairs[k])].tolist()
        else:
            rows, sign = np.full(len(y), True), 1
            np.testing.assert_array_equal(y_told, y == k)
            assert fitted.classes_.tolist() == [False, True]
        np.testing.assert_array_equal(X_told, X[rows])
        np.testing.assert_array_equal(metadata["sample_weight"], weights[rows])
        np.testing.assert_allclose(sign * fitted.decision_function(X), scores[:, k], rtol=1e-2, atol=1e-2)
        assert fitted.score(X_told, y_told) > 0.7


STOPPED = {
    "linear": (LinearSVC(), vectors()),
    "classes": (LinearSVC(solver="pegasos", n_jobs=2), vectors(3)),
    "kernel": (SVC(), vectors()),
    "pairs": (SVC(), vectors(3)),
    "regression": (LinearSVR(), vectors()),
    "sequences": (SequenceSVC(C=10.0), sequences()),
    "feature map": (FeatureMapSVC(feature_map), vectors(n=50)),
}


@pytest.mark.parametrize("case", STOPPED)
def test_a_callback_may_end_a_fit(case):
    model, (X, y) = STOPPED[case]
    recorder = Recorder(stop_at=2)
    model = clone(model).set_params(**ENDLESS).set_callbacks(recorder).fit(X, y)
    found = model.certificate_
    assert {part.reason for part in found.parts or (found,)} == {"callback"}
    # With a kernel, the certificate of what the solver left is one more check.
    assert {context.task_id for context, *_ in recorder.last_checks()} <= {1, 2}


def test_a_fit_by_blocks(tmp_path, monkeypatch):
    monkeypatch.setattr("pegasos.linear.out_of_core.machine.fits_in_memory", lambda *_: False)
    X, y = vectors(3)
    write_dataset(tmp_path / "a.ds", X, y)
    recorder = Recorder()
    model = LinearSVC(random_state=0).set_callbacks(recorder).fit(open_dataset(tmp_path / "a.ds"))
    check_nesting(recorder.events)
    for k, (*_, y_told, _, fitted) in enumerate(recorder.last_checks()):
        assert y_told is None  # the data set has it
        np.testing.assert_allclose(fitted.coef_[0], model.coef_[k], rtol=1e-6)


def test_sequences_of_a_matrix_have_their_lengths():
    random, lengths = np.random.default_rng(0), [3, 4, 5]
    X, y = random.normal(size=(12, 3)), random.integers(2, size=12)
    told = []

    class Scores(Recorder):
        def on_fit_task_end(self, estimator, context, *, X=None, y=None, metadata=None, fitted_estimator=None):
            told.append(fitted_estimator.score(X, y, **metadata))

    model = SequenceSVC(random_state=0).set_callbacks(Scores()).fit(X, y, lengths=lengths)
    assert told[-1] == told[-2] == model.score(X, y, lengths=lengths)


def test_names_of_columns_are_those_of_this_fit():
    pandas = pytest.importorskip("pandas")
    X, y = vectors()
    first, second = (pandas.DataFrame(X, columns=list(names)) for names in ("abcdef", "uvwxyz"))
    monitor = callback.ScoringMonitor(scoring="accuracy")
    for model in (LinearSVC(random_state=0), SVC()):
        model.fit(first, y).set_callbacks(monitor).fit(second, y)
        assert monitor.get_logs().data[0]["accuracy"] == model.score(second, y)


def test_a_scoring_monitor_has_a_score_of_each_check():
    X, y = vectors()
    monitor = callback.ScoringMonitor(scoring=["accuracy", "roc_auc"])
    model = LinearSVC(solver="pegasos", random_state=0).set_callbacks(monitor).fit(X, y)
    whole, *checks = monitor.get_logs().data
    assert len(checks) == len(model.history_["gap"])
    assert whole["accuracy"] == checks[-1]["accuracy"] == model.score(X, y)


@pytest.mark.parametrize("model", [LinearSVC(), SVC(), LinearSVCCV(Cs=[0.1, 1.0], cv=2)])
def test_a_progress_bar_ends_full(model, capsys):
    X, y = vectors(3)
    clone(model).set_callbacks(callback.ProgressBar()).fit(X, y)
    shown = capsys.readouterr().out
    assert f"{type(model).__name__} - fit" in shown
    assert "100%" in shown.split("- fit")[-1].splitlines()[0]


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_folds_and_the_last_fit_are_tasks(n_classes, n_jobs):
    X, y = vectors(n_classes)
    own, passed = Recorder(), Propagated()
    model = LinearSVCCV(Cs=[0.1, 1.0], cv=2, n_jobs=n_jobs, random_state=0).set_callbacks(own, passed).fit(X, y)
    alone = LinearSVCCV(Cs=[0.1, 1.0], cv=2, random_state=0).fit(X, y)
    np.testing.assert_array_equal(model.coef_, alone.coef_)
    for recorder in (own, passed):
        check_nesting(recorder.events)
        assert [name for _, where, name in recorder.events[1:-1] if len(where) == 2 and name == "refit"] == (
            ["refit", "refit"] if recorder is own else []
        )
    tasks = own.tasks()
    assert tasks.count("C=0.1") == tasks.count("C=1") == 2 * (1 if n_classes == 2 else 3)
    assert (tasks.count("fold 1"), tasks.count("fold 2"), tasks.count("0")) == (1, 1, 2 if n_classes == 3 else 0)
    assert own.ended[-1][-1].C_ == model.C_
    # The last fit is one of LinearSVC, to callbacks that are passed on.
    inner = {context.estimator_name for where, context, *_ in passed.ended if where[:2] == (0, 2)}
    assert inner == {"LinearSVC"}
    assert "_skl_callbacks" not in vars(model.best_estimator_)
    pickle.loads(pickle.dumps(model.best_estimator_))


def test_listeners_to_classes_of_a_fold_are_told_apart():
    X, y = vectors(3)
    parts = set()
    with pegasos.listen(lambda check: parts.add(check.part)):
        LinearSVCCV(Cs=[0.1], cv=2).fit(X, y)
    folds = {f"fold {fold}, {label}, C=0.1" for fold in (1, 2) for label in "012"}
    assert parts == {"0", "1", "2", *folds}


def test_clones_and_copies_have_the_callbacks():
    X, y = vectors()
    recorder = Recorder()
    model = LinearSVC(random_state=0).set_callbacks(recorder)
    for other in (clone(model), copy.copy(model)):
        recorder.events.clear()
        other.fit(X, y)
        check_nesting(recorder.events)
    recorder.events.clear()
    model.set_callbacks().fit(X, y)
    assert not recorder.events


def test_models_are_pickled_with_callbacks_and_saved_without(tmp_path):
    X, y = vectors()
    monitor = callback.ScoringMonitor(scoring="accuracy")
    model = LinearSVC(random_state=0).set_callbacks(monitor, callback.ProgressBar()).fit(X, y)
    loaded = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    assert loaded.fit(X, y).certificate_.converged
    save_model(model, tmp_path / "model")
    assert "_skl_callbacks" not in vars(load_model(tmp_path / "model"))


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_searches_and_pipelines(n_jobs):
    X, y = vectors(3)
    model = make_pipeline(StandardScaler(), LinearSVC(random_state=0))
    search = GridSearchCV(model, {"linearsvc__C": [0.1, 1.0]}, cv=2, n_jobs=n_jobs)
    monitor = callback.ScoringMonitor(scoring="accuracy")
    model[-1].set_callbacks(monitor)
    search.set_callbacks(callback.ProgressBar(max_propagation_depth=None)).fit(X, y)
    data = monitor.get_logs().data
    fits = [row for row in data if row["task_name"] == "fit"]
    assert len(fits) == 2 * 2 + 1  # candidates, folds, and the last fit
    assert len(data) > len(fits)
    (last,) = (row for row in fits if row["task_id_path"][:2] == (0, 1))
    assert search.best_estimator_.score(X, y) == last["accuracy"]


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_cross_validation(n_jobs):
    X, y = vectors()
    monitor = callback.ScoringMonitor(scoring="accuracy")
    model = LinearSVC(random_state=0).set_callbacks(monitor)
    found = cross_validate(model, X, y, cv=3, n_jobs=n_jobs, return_train_score=True)
    last = [log.data[0]["accuracy"] for log in monitor.get_logs(select="all")]
    assert sorted(last) == sorted(found["train_score"])


class Failing(Recorder):
    def __init__(self, at):
        super().__init__()
        self.at = at

    def fail(self, at):
        if at == self.at:
            raise RuntimeError(f"failed at {at}")

    def setup(self, estimator, context):
        super().setup(estimator, context)
        self.fail("setup")

    def teardown(self, estimator, context):
        super().teardown(estimator, context)
        self.fail("teardown")

    def on_fit_task_begin(self, estimator, context):
        super().on_fit_task_begin(estimator, context)
        self.fail(f"begin {context.task_name}")

    def on_fit_task_end(self, estimator, context, *, fitted_estimator=None):
        super().on_fit_task_end(estimator, context, fitted_estimator=fitted_estimator)
        self.fail(f"end {context.task_name}")


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("make", [partial(LinearSVC, solver="pegasos"), SVC])
@pytest.mark.parametrize("at", ["setup", "begin fit", "begin check", "end check", "end fit", "teardown"])
def test_an_error_leaves_the_estimator_as_it_was(at, make, n_jobs):
    X, y = vectors(3)
    failing = Failing(at)
    model = make(n_jobs=n_jobs, random_state=0).set_callbacks(failing)
    before = dict(vars(model))
    with pytest.raises(RuntimeError, match=f"failed at {at}"):
        model.fit(X, y)
    assert failing.events[-1] == "teardown"
    assert vars(model) == before
    failing.at = None
    assert model.fit(X, y).certificate_.converged


def test_fits_of_a_callback_are_not_heard():
    X, y = vectors()

    class Fits(Recorder):
        def on_fit_task_end(self, estimator, context):
            SVC().fit(X[:50], y[:50])

    heard = []
    with pegasos.listen(heard.append):
        LinearSVC(random_state=0).set_callbacks(Fits()).fit(X, y)
    assert {check.estimator for check in heard} == {"LinearSVC"}


def test_hooks_are_called_one_at_a_time():
    X, y = vectors(4)
    busy, together = threading.Lock(), []

    class Alone(Recorder):
        def on_fit_task_end(self, estimator, context, *, fitted_estimator=None):
            together.append(not busy.acquire(blocking=False))
            threading.Event().wait(0.001)
            busy.release()

    LinearSVC(solver="pegasos", n_jobs=4, random_state=0).set_callbacks(Alone()).fit(X, y)
    assert together
    assert not any(together)


def test_a_stream_has_no_tasks():
    X, y = vectors()
    recorder = Recorder()
    LinearSVC(alpha=0.01).set_callbacks(recorder).partial_fit(X, y, classes=[0, 1])
    assert not recorder.events


def test_what_is_no_callback_is_refused():
    with pytest.raises(TypeError, match="FitCallback"):
        LinearSVC().set_callbacks(print)
