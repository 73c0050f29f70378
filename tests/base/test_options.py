"""Options of the solvers: every one is checked, with a message that names it, its value and what is allowed."""

import inspect
import re
import warnings

import numpy as np
import pytest
from fit_helpers import vectors
from linear_helpers import suited_loss
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from pegasos import SVC, SVR, FeatureMapSVC, LinearSVC, LinearSVCCV, LinearSVR, SequenceSVC
from pegasos.base.options import Choice, Flag, Integer, Number, names
from pegasos.base.solver import resolve
from pegasos.io import write_dataset
from pegasos.solvers import SOLVERS, Pegasos

X = np.array([[0.0], [1.0], [2.0], [3.0]])
Y = np.array([0, 0, 1, 1])

#: Values no option of the kind takes.
WRONG = {
    Integer: [-1, 1.5, "2", True, np.nan],
    Number: [-1.0, 0, np.nan, np.inf, "0.1", True],
    Choice: ["no such thing", 17, None, np.inf],
    Flag: ["yes", 1, None],
}

any_solver = pytest.mark.parametrize("solver", SOLVERS.values(), ids=SOLVERS.keys())
CASES = [
    pytest.param(solver, name, value, id=f"{solver.name}-{name}-{value}")
    for solver in SOLVERS.values()
    for name, option in solver.options.items()
    for value in WRONG[type(option)]
    if not option.accepts(value)
]


@pytest.mark.parametrize(("solver", "name", "value"), CASES)
def test_wrong_values(solver, name, value):
    wanted = re.escape(solver.options[name].wanted())
    with pytest.raises(ValueError, match=rf"^{name}={re.escape(repr(value))}: must be {wanted}"):
        LinearSVC(solver=solver(**{name: value})).fit(X, Y)


@any_solver
def test_every_option_is_declared(solver):
    parameters = set(inspect.signature(solver).parameters)
    assert parameters == set(solver.options)
    assert all(option.help for option in solver.options.values())
    for name in parameters:
        assert re.search(rf"\b{name}\b", solver.__doc__), f"{name} is not documented"


@any_solver
def test_defaults_are_allowed(solver):
    solver().check()
    assert resolve(solver.name, SOLVERS).get_params() == solver().get_params()


@any_solver
def test_unknown_option(solver):
    with pytest.raises(TypeError, match=r"has no parameter 'bach_size'; (it has|did you mean 'batch_)|takes no"):
        solver(bach_size=3)
    with pytest.raises(TypeError, match=r"positional argument|takes no arguments"):
        solver(3)


@any_solver
def test_every_choice_works(solver):
    for name, option in solver.options.items():
        if isinstance(option, Choice):
            for value in option.values.values():
                if value == "random" and name == "average":  # with a kernel only
                    continue
                given = {"solver": solver(**{name: value}), "loss": suited_loss(solver.name)}
                clf = LinearSVC(tol=0, max_iter=2, alpha=0.1, random_state=0, **given).fit(X, Y)
                assert clf.certificate_.dual <= clf.certificate_.primal


def test_every_flag_works():
    for options in ({"project": True}, {"count_idle_steps": False}, {"random_stops": 3, "average": False}):
        clf = LinearSVC(tol=0, max_iter=2, solver=Pegasos(**options), random_state=0).fit(X, Y)
        assert clf.certificate_.dual <= clf.certificate_.primal


def test_random_stops_need_single_iterates():
    for average in (True, "suffix", "last"):
        with pytest.raises(ValueError, match=rf"random_stops=2.*average={average!r}.*pass average=False"):
            LinearSVC(solver=Pegasos(random_stops=2, average=average)).fit(X, Y)


def test_numpy_scalars_are_numbers():
    options = {"batch_size": np.int64(2), "project": np.bool_(True), "max_steps": np.int32(4)}
    clf = LinearSVC(C=np.float32(0.5), tol=np.float64(0), max_iter=np.int64(3), solver=Pegasos(**options))
    clone(clf).fit(X, Y)


@pytest.mark.parametrize("machine", [SVC, SVR, LinearSVC, LinearSVR, LinearSVCCV])
@pytest.mark.parametrize("kind", [np.float64, np.float32, np.int64, np.uint8])
def test_numpy_scalars_are_numbers_to_every_estimator(machine, kind):
    clf = machine(max_time=kind(200), tol=kind(1))
    if machine is LinearSVCCV:
        clf.set_params(Cs=2)
    else:
        clf.set_params(C=kind(1))
    if issubclass(kind, np.integer):
        clf.set_params(n_jobs=kind(1), max_iter=kind(100))
    X3, y3 = np.arange(15.0)[:, None], np.repeat([0, 1, 2], 5)  # three classes wait for one thread
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        model = clf.fit(X3, y3)
    for name in ("primal", "dual", "gap"):
        assert type(getattr(model.certificate_, name)) is float
    assert type(model.certificate_.converged) is bool


@pytest.mark.parametrize(
    ("machine", "same", "other", "message"),
    [
        (LinearSVC, "ovr", "ovo", "multi_class='ovo': must be 'auto', 'ovr', 'joint' or 'crammer_singer'"),
        (SVC, "ovo", "joint", "multi_class='joint': must be 'auto', 'ovo' or 'ovr'"),
    ],
)
def test_multi_class_auto_is_the_way_of_the_estimator(machine, same, other, message):
    X3, y3 = vectors(3, n=60)
    scores = [machine(multi_class=way, random_state=0).fit(X3, y3).decision_function(X3) for way in ("auto", same)]
    np.testing.assert_array_equal(*scores)
    assert machine().multi_class == "auto"
    with pytest.raises(ValueError, match=message):
        machine(multi_class=other).fit(X3, y3)


def test_a_grid_of_time_limits():
    search = GridSearchCV(SVC(), {"max_time": np.array([1.0, 2.0])}, cv=2, error_score="raise")
    assert search.fit(X, Y).best_params_["max_time"] in (1.0, 2.0)


def test_alpha_in_half_precision_is_not_rounded_to_infinity():
    X4, y4 = np.ones((100_000, 1)), np.arange(100_000) % 2
    assert LinearSVC(alpha=np.float16(1)).fit(X4, y4).certificate_.primal == pytest.approx(
        LinearSVC(alpha=1.0).fit(X4, y4).certificate_.primal
    )


def test_names_become_solvers():
    for name, cls in SOLVERS.items():
        assert type(resolve(name, SOLVERS)) is cls
    solver = Pegasos(batch_size=3)
    assert resolve(solver, SOLVERS) is not solver
    assert resolve(solver, SOLVERS).batch_size == 3


def test_what_is_wanted_reads_well():
    assert Integer(low=1, help="").wanted() == "an integer of at least 1"
    assert Number(low=0, high=1, open=True, help="").wanted() == "a finite number above 0 and below 1"
    assert Number(help="").wanted() == "a finite number"
    assert Choice(values=names("a", "b", "c"), help="").wanted() == "'a', 'b' or 'c'"
    optional = Number(low=0, optional=True, help="")
    optional.check("p", None)
    with pytest.raises(ValueError, match="p=-3: must be a finite number at least 0 or None"):
        optional.check("p", -3)


def test_mistakes_have_the_names_of_users():
    X, y = [[0.0], [1.0]], [0, 1]
    for verbose in ("a", None):
        with pytest.raises(ValueError, match=rf"verbose={verbose!r}: must be 0, 1 or 2"):
            LinearSVC(verbose=verbose).fit(X, y)
    with pytest.raises(TypeError, match=r"^FeatureMapSVC needs feature_map: write FeatureMapSVC"):
        FeatureMapSVC()
    with pytest.raises(ValueError, match=r"^SequenceSVC requires y to be passed"):
        SequenceSVC().fit([[["a"]]])


def test_a_data_set_has_no_sequences(tmp_path):
    dataset = write_dataset(tmp_path / "d", np.eye(2), [0, 1])
    with pytest.raises(TypeError, match=r"^SequenceSVC takes sequences, and a data set has single examples"):
        SequenceSVC().fit(dataset)


@pytest.mark.parametrize("verbose", ["1", -1, 1.5, float("inf")])
def test_verbose_is_checked_as_other_parameters_are(verbose):
    with pytest.raises(ValueError, match=rf"verbose={verbose!r}: must be 0, 1 or 2"):
        LinearSVC(verbose=verbose).fit(X, Y)


@pytest.mark.parametrize("machine", [SVC, LinearSVC])
def test_what_is_no_seed_and_no_folder(machine):
    for seed in ("foo", -1, 1.5):
        with pytest.raises(ValueError, match=rf"random_state={seed!r}: must be an integer from 0"):
            machine(random_state=seed).fit(X, Y)
    with pytest.raises(ValueError, match="checkpoint='': must be the name of a folder"):
        machine(checkpoint="").fit(X, Y)


class TestSearchesForC:
    X, Y = np.arange(20.0)[:, None], np.arange(20) % 2

    def refuses(self, told, **options):
        with pytest.raises(ValueError, match=told):
            LinearSVCCV(**{"Cs": 2} | options).fit(self.X, self.Y)

    def test_values(self):
        self.refuses(r"Cs=10+: must be at least 1 and at most 10000", Cs=10**30)

    @pytest.mark.parametrize("cv", [np.array([1, 2]), b"x", [], 100, [([0, 1], [200])]])
    def test_folds(self, cv):
        self.refuses(r"cv=.*pass a number of folds", cv=cv)

    def test_more_folds_than_rows(self):
        with pytest.raises(ValueError, match=r"cv=5: .*n_samples=4; pass a number of folds"):
            LinearSVCCV().fit(X, Y)

    @pytest.mark.parametrize("scoring", ["", "acuracy"])
    def test_scores(self, scoring):
        self.refuses(rf"scoring='{scoring}': must be the name of a score", scoring=scoring)
