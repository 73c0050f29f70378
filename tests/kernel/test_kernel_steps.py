"""The kernel solvers step by step against their NumPy twins, and the water level against sorting."""

import numpy as np
import pytest
from kernel_helpers import (
    PRECISIONS,
    KernelCase,
    last_point,
    make_case,
    run_kernel_sdca,
    run_lasvm,
    run_sbp,
    run_simba,
    run_smo,
    run_walk,
)
from linear_helpers import assert_same, draw_batches, make_problem, run
from scipy.optimize import linprog, minimize_scalar

from pegasos._core import native
from pegasos.reference import dca, lasvm, s0, s4, simba, smo

CASES = {
    "plain": make_case(),
    "weights": make_case(weighted=True, seed=1),
    "some weights zero": make_case(weighted=True, seed=2, zeros=True),
    "large C": make_case(seed=3, C=np.sqrt(300.3)),
}
REGRESSION = make_case(weighted=True, seed=4, C=2.0, loss="epsilon_insensitive", epsilon=0.1)
QUANTILE = make_case(weighted=True, seed=4, C=2.0, loss="quantile", epsilon=0.8)
any_case = pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
any_precision = pytest.mark.parametrize("precision", PRECISIONS)


def draw(n, shape, seed=0):
    return np.random.default_rng(seed).integers(n, size=shape).astype(np.uint32)


class TestPegasos:
    @any_case
    @any_precision
    @pytest.mark.parametrize("k", [1, 3, 40])
    @pytest.mark.parametrize("project", [False, True])
    def test_every_step_is_the_twins(self, case, precision, k, project):
        batches = draw(case.n, (70, k))  # with repetitions within a batch
        iterates = list(s0.kernel_pegasos(case.K, case.y, case.lam, batches, s=case.s, project=project))
        for steps in (*range(1, 40), 70):
            found = run_walk(case, batches[:steps], precision=precision, project=project)
            assert_same(found.beta, iterates[steps])
            assert found.steps == steps
            assert found.epochs == pytest.approx(steps * k / case.n)

    def test_the_projection_is_felt(self):
        case = CASES["large C"]
        batches = draw(case.n, (20, 3))
        free, projected = (run_walk(case, batches, project=project).beta for project in (False, True))
        assert np.abs(free - projected).max() > 1e-3 * np.abs(free).max()

    @pytest.mark.parametrize("k", [1, 4])
    @pytest.mark.parametrize("project", [False, True])
    @pytest.mark.parametrize("weighted", [False, True])
    def test_a_linear_kernel_is_the_linear_algorithm(self, k, project, weighted):
        problem = make_problem(weighted=weighted)
        case = KernelCase(problem.X @ problem.X.T, problem.y, problem.s, problem.C)
        batches = draw_batches(problem, 60, k)
        for steps in range(1, len(batches) + 1):
            linear = run(problem, batches=batches[:steps], project=project)
            assert_same(problem.X.T @ run_walk(case, batches[:steps], project=project).beta, linear.w[:-1])

    @any_precision
    @pytest.mark.parametrize("k", [1, 3])
    @pytest.mark.parametrize("project", [False, True])
    def test_average(self, precision, k, project):
        case = CASES["weights"]
        batches = draw(case.n, (101, k))
        iterates = list(s0.kernel_pegasos(case.K, case.y, case.lam, batches, s=case.s, project=project))
        for steps in (1, 2, 31, 32, 33, 64, 101):
            found = run_walk(case, batches[:steps], precision=precision, project=project, output="average")
            assert_same(found.beta, s0.average(iterates[: steps + 1]))

    @pytest.mark.parametrize("epochs", [1, 2, 3, 4, 5, 8, 9])
    def test_suffix(self, epochs):
        """As in the linear algorithm, the mean of the last half to three quarters."""
        case = CASES["weights"]
        batches = draw(case.n, (epochs * case.n, 1))
        iterates = list(s0.kernel_pegasos(case.K, case.y, case.lam, batches, s=case.s))
        found = run_walk(case, batches, output="suffix")
        assert_same(found.beta, s0.suffix_average(iterates))

    def test_random_is_one_of_the_iterates(self):
        case, chosen = CASES["plain"], set()
        batches = draw(case.n, (60, 1))
        iterates = np.array(list(s0.kernel_pegasos(case.K, case.y, case.lam, batches)))
        for seed in range(12):
            found = run_walk(case, batches, output="random", seed=seed)
            off = np.abs(iterates[:-1] - found.beta).max(axis=1)
            assert off.min() <= 1e-10 * np.abs(found.beta).max(initial=1e-300)
            chosen.add(int(off.argmin()))
            assert found.bounds.primal == pytest.approx(case.primal(found.beta), rel=1e-9)
        assert len(chosen) > 6
        assert max(chosen) > 32


class TestPerceptron:
    @any_case
    @any_precision
    def test_every_step_is_the_twins(self, case, precision):
        batches = draw(case.n, (100, 1), seed=1)
        iterates = list(s4.kernel_perceptron(case.K, case.y, batches[:, 0], case.s))
        for steps in (*range(1, 40), 100):
            found = run_walk(case, batches[:steps], perceptron=True, precision=precision)
            np.testing.assert_array_equal(found.beta, iterates[steps])

    def test_average(self):
        case = CASES["weights"]
        batches = draw(case.n, (90, 1))
        iterates = list(s4.kernel_perceptron(case.K, case.y, batches[:, 0], case.s))
        found = run_walk(case, batches, perceptron=True, output="average")
        assert_same(found.beta, s0.average(iterates))

    def test_a_linear_kernel_is_the_linear_algorithm(self):
        problem = make_problem(weighted=True)
        sequence = draw(problem.m, 60)
        rows = list(s4.perceptron(problem.X, problem.y, sequence, s=problem.s))
        coefficients = s4.kernel_perceptron(problem.X @ problem.X.T, problem.y, sequence, problem.s)
        for w, beta in zip(rows, coefficients, strict=True):
            assert_same(problem.X.T @ beta, w)


class TestSdca:
    @any_precision
    @pytest.mark.parametrize("case", [*CASES.values(), REGRESSION, QUANTILE], ids=[*CASES, "regression", "quantile"])
    def test_every_step_is_the_twins(self, case, precision):
        t, lo, hi, row = case.variables
        sequence = draw(len(t), 100)
        iterates = list(dca.kernel_sdca(case.K, t, lo, hi, row, sequence))
        for steps in (*range(1, 40), 100):
            found = run_kernel_sdca(case, precision=precision, visits=sequence[:steps])
            assert_same(last_point(found), iterates[steps])
            assert (found.steps, found.epochs) == (steps, pytest.approx(steps / len(t)))

    def test_a_start(self):
        """Half of the visits, and then the others."""
        case = CASES["weights"]
        sequence = draw(case.n, 90)
        half = run_kernel_sdca(case, visits=sequence[:45])
        assert_same(
            last_point(run_kernel_sdca(case, visits=sequence[45:], start=last_point(half))),
            last_point(run_kernel_sdca(case, visits=sequence)),
        )


class TestSmo:
    @pytest.mark.parametrize("case", [*CASES.values(), QUANTILE], ids=[*CASES, "quantile"])
    @pytest.mark.parametrize("free", [True, False])
    @pytest.mark.parametrize(("precision", "rtol", "most"), [(np.float64, 1e-9, 200), (np.float32, 1e-4, 8)])
    def test_every_step_is_the_twins(self, case, free, precision, rtol, most):
        """For as long as the first block lasts: until the violation is a tenth of what it was.

        A step between the bounds leaves its two variables with the same slope, but for rounding. Where these are the
        largest, either may be taken next: the comparison ends there.
        """
        t, lo, hi, row = case.variables
        start, compared = None, 0
        for steps, beta in enumerate(smo.smo(case.K, t, lo, hi, row, most, pairs=free)):
            u = t - case.K @ beta
            if free:
                second, first = np.sort(u[beta < hi])[-2:]
                tie, violation = first - second < 1e-12, first - u[beta > lo].min()
            else:
                tie, violation = False, abs(u[smo.best_single(case.K, u, lo, hi, beta)[0][0]])
            start = violation if start is None else start
            if steps:
                found = run_smo(case, free=free, precision=precision, tol=0.0, max_epochs=steps / case.n)
                assert (found.steps, found.reason) == (steps, "budget")
                assert_same(last_point(found), beta, rtol)
                compared += 1
            if violation <= 0.1 * start or (steps and tie):
                break
        assert compared >= 8


class TestJointSteps:
    """Newton's steps of all variables between their bounds."""

    @pytest.mark.parametrize("free", [False, True])
    @pytest.mark.parametrize("seed", range(6))
    def test_every_step_is_the_twins(self, free, seed):
        random = np.random.default_rng(seed)
        n = 40
        A = random.normal(size=(n, n))
        K, t = A @ A.T + 5 * np.eye(n), random.normal(size=n) * 30
        lo, hi = -random.random(n), random.random(n)
        beta = np.where(random.random(n) < 0.2, lo, 0.0)
        beta[-1] -= beta.sum()  # between its bounds or not
        lo[-1], hi[-1] = -20, 20
        expected, run = beta, native.Run()
        for steps in range(1, 8):
            expected = smo.joint_step(K, t, lo, hi, expected, pairs=free)
            found = native.newton_steps(K, t, lo, hi, beta, free, steps, run)
            assert_same(found, expected, 1e-9)
            if free:
                assert abs(found.sum()) < 1e-13
        assert t @ found - found @ K @ found / 2 > t @ beta - beta @ K @ beta / 2

    @pytest.mark.parametrize("free", [False, True])
    def test_a_matrix_of_low_rank(self, free):
        """There is no one direction; whatever is done, the objective does not fall, and no bound is passed."""
        random = np.random.default_rng(0)
        A = random.normal(size=(30, 3))
        K, t, hi = A @ A.T, random.normal(size=30), np.ones(30)
        found = native.newton_steps(K, t, -hi, hi, np.zeros(30), free, 20, native.Run())
        assert (np.abs(found) <= 1 + 1e-15).all()  # bounds that are met are known to the problem, exactly
        assert t @ found - found @ K @ found / 2 >= 0
        assert not free or abs(found.sum()) < 1e-13


class TestLasvm:
    @any_case
    @any_precision
    @pytest.mark.parametrize("pairs", [False, True])
    @pytest.mark.parametrize("selection", ["random", "gradient", "active"])
    def test_every_turn_is_the_twins(self, case, precision, pairs, selection):
        """The visits, each with PROCESS and REPROCESS, and the steps of the finish."""
        sequence = draw(case.n, 45 if selection == "random" else 45 * 50)
        options = {"pairs": pairs, "tau": 1e-2}
        iterates = list(lasvm.lasvm(case.K, case.y, case.C * case.s, sequence, choose=selection, **options))
        options = {"free": pairs, "precision": precision, "tau": 1e-2, "tol": 0.0, "visits": sequence}
        for turns in (*range(1, 50), *range(50, len(iterates), 7)):
            if turns >= len(iterates):
                break
            found = run_lasvm(case, max_epochs=turns / case.n, selection=selection, **options)
            assert_same(last_point(found), iterates[turns], 1e-9)
            assert (found.reason, found.epochs) == ("budget", pytest.approx(turns / case.n))
        whole = run_lasvm(case, selection=selection, **options)
        assert_same(last_point(whole), iterates[-1], 1e-8)
        assert whole.epochs == pytest.approx((len(iterates) - 1) / case.n)

    def test_members_leave(self):
        """Of examples that went back to zero some are no longer in S, and none that a pair wants."""
        case = make_case(n=200, seed=11, C=1.7)
        members = lasvm.Members(case.K, case.y, case.C * case.s, 1e-3, pairs=True)
        members.add_seeds(np.arange(case.n))
        seen = set(members.S)
        for k in range(case.n):
            members.process(k)
            seen.add(k)
            members.reprocess()
            assert set(np.flatnonzero(members.beta)) <= set(members.S)
        assert len(members.S) < 0.8 * len(seen)

    def test_a_start(self):
        """Half of the visits, and the others from there: S has the support vectors then, and no others."""
        case = CASES["weights"]
        half = run_lasvm(case, free=True, visits=draw(case.n, 40), max_epochs=40 / case.n)
        rest = run_lasvm(case, free=True, start=last_point(half), max_epochs=0.0)
        np.testing.assert_array_equal(last_point(rest), last_point(half))
        assert rest.bounds.dual == pytest.approx(half.bounds.dual, rel=1e-9)
        assert rest.steps == 0


def machine_of(case, mean, nu, bias):
    """A mean of iterates divided by its level, its intercept and its margin; zeros where the level is not positive."""
    c, volume = case.y * (case.K @ mean), nu * case.s.sum()
    level = s4.water_level_with_bias(c, case.y, volume, case.s) if bias else s4.water_level(c, volume, case.s)
    gamma, b = level if bias else (level, 0.0)
    if gamma <= 1e-9:
        return np.zeros(case.n), 0.0, gamma
    beta, b = mean / gamma, b / gamma
    more = 1 + 1e-12  # no loss by rounding
    return beta, b, s4.margin(case.K, case.y, more * beta, more * b, nu, case.s)


def assert_best_of_checks(case, found, means, nu, bias, tolerance):
    """What is returned has the largest margin of all checks, which are after n, 2 n, 4 n, ... steps and the last."""
    steps = len(means)
    checks = [case.n << k for k in range(10) if case.n << k < steps] + [steps]
    beta, b, margin = max((machine_of(case, means[at - 1], nu, bias) for at in checks), key=lambda one: one[2])
    assert found.steps == steps
    if abs(margin) <= 1e-9:
        return False
    assert_same(found.beta, beta, tolerance)
    if margin > 0:
        assert found.b == pytest.approx(b, abs=tolerance * max(1, abs(b)))
        assert found.bounds.dual == pytest.approx(margin, rel=1e-6)
    return margin > 0


class TestSbp:
    @any_case
    @any_precision
    @pytest.mark.parametrize("bias", [False, True])
    @pytest.mark.parametrize("nu", [0.0, 0.07, 0.9])
    def test_every_step_is_the_twins(self, case, precision, bias, nu):
        random = np.random.default_rng(5)
        rows, uniforms = random.integers(case.n, size=20_000).astype(np.uint32), random.random(20_000)
        twin = s4.sbp(case.K, case.y, nu, rows, uniforms, s=case.s, bias=bias)
        next(twin)
        total, means, models = np.zeros(case.n), [], 0
        for steps in range(1, 61):
            total = total + next(twin)
            means.append(total / steps)
            if steps % 3 and steps > 12:
                continue
            options = {"proposals": rows, "uniforms": uniforms, "max_steps": steps}
            found = run_sbp(case, nu=nu, free=bias, precision=precision, **options)
            models += assert_best_of_checks(case, found, means, nu, bias, 1e-9)
        assert models > 0 or nu == 0

    @any_precision
    @pytest.mark.parametrize("bias", [False, True])
    def test_few_are_taken(self, precision, bias):
        """256 proposals that are not taken: the next number chooses among all rows."""
        base = CASES["plain"]
        s = np.full(base.n, 1e-3)
        s[0] = 1  # of what is proposed, all others are taken once in a thousand
        case, nu = KernelCase(base.K, base.y, s, 1.0), 3e-3
        random = np.random.default_rng(0)
        rows, uniforms = random.integers(base.n, size=10_000).astype(np.uint32), random.random(10_000)
        _, *iterates = s4.sbp(case.K, case.y, nu, rows, uniforms, s=s, bias=bias)
        steps = len(iterates)
        assert 30 < steps < 80
        means = np.cumsum(iterates, axis=0) / np.arange(1, steps + 1)[:, None]
        options = {"proposals": rows, "uniforms": uniforms, "max_steps": steps}
        found = run_sbp(case, nu=nu, free=bias, precision=precision, **options)
        assert assert_best_of_checks(case, found, means, nu, bias, 1e-9)

    def test_the_same_seed_is_the_same_run(self):
        case = CASES["weights"]
        one, two, other = (run_sbp(case, nu=0.1, max_steps=300, seed=seed).beta for seed in (1, 1, 2))
        np.testing.assert_array_equal(one, two)
        assert (one != other).any()


class TestSimba:
    @any_case
    @any_precision
    @pytest.mark.parametrize("bias", [False, True])
    @pytest.mark.parametrize("nu", [0.0, 0.07, 0.9])
    def test_every_step_is_the_twins(self, case, precision, bias, nu):
        uniforms = np.random.default_rng(5).random(200)
        total, means, models = np.zeros(case.n), [], 0
        for steps, beta in enumerate(simba.simba(case.K, case.y, nu, uniforms, s=case.s, bias=bias), start=1):
            total = total + beta
            means.append(total / steps)
            if steps % 7 and steps > 20:
                continue
            found = run_simba(case, nu=nu, free=bias, precision=precision, uniforms=uniforms, max_steps=steps)
            models += assert_best_of_checks(case, found, means, nu, bias, 1e-8)
        assert models > 0 or nu == 0

    def test_the_slack_is_the_best_one(self):
        """The twin's, against linear programming."""
        random = np.random.default_rng(0)
        for _ in range(20):
            density, s, volume = random.random(12), random.uniform(0.2, 2, size=12), random.uniform(0, 20)
            best = linprog(-s * density, A_ub=[s], b_ub=[volume], bounds=(0, 2))
            assert (s * density) @ simba.slack(density, s, volume) == pytest.approx(-best.fun)

    def test_numbers_keep_their_range(self):
        """q of examples that are never below the margin falls without end, and all grow where margins are negative."""
        case = make_case(n=32, seed=3, gamma=4.0)
        found = run_simba(case, nu=1e-3, max_steps=60_000)
        assert np.isfinite(found.beta).all()
        assert 0 < found.bounds.dual <= found.bounds.primal

    def test_the_same_seed_is_the_same_run(self):
        case = CASES["weights"]
        one, two, other = (run_simba(case, nu=0.1, max_steps=300, seed=seed).beta for seed in (1, 1, 2))
        np.testing.assert_array_equal(one, two)
        assert (one != other).any()


def responses(n, kind, seed=0):
    """Responses, labels and weights."""
    random = np.random.default_rng(seed)
    g = random.normal(size=n)
    if kind == "tied":
        g = random.integers(-3, 4, size=n) / 2
    elif kind == "equal":
        g = np.full(n, 0.25)
    elif kind == "far apart":
        g = g * 10.0 ** random.integers(-6, 7, size=n)
    y = np.where(random.random(n) < 0.3, 1.0, -1.0)
    y[:2] = 1, -1
    s = random.random(n) if seed % 2 else np.ones(n)
    s[2::7] = 0
    return g, y, s


def water_levels(g, y, s, two, volumes):
    """Of the same responses, for several volumes in turn."""
    return native.water_levels(np.tile(g, (len(volumes), 1)), y, s, two, volumes)


class TestWaterLevel:
    @pytest.mark.parametrize("n", [2, 3, 64, 65, 1000])
    @pytest.mark.parametrize("kind", ["random", "tied", "equal", "far apart"])
    @pytest.mark.parametrize("seed", range(4))
    @pytest.mark.parametrize("two", [False, True])
    def test_as_by_sorting(self, n, kind, seed, two):
        g, y, s = responses(n, kind, seed)
        c, total = y * g, s.sum()
        volumes = [v * total for v in (0, 1e-12, 1e-3, 0.1, 0.3, 0.1, 2, 0.0, 50, 1e6, 1e-9, 0)]
        for volume, found in zip(volumes, water_levels(g, y, s, two, volumes), strict=True):
            gamma, b, x, z, *shares = found
            scale = max(np.abs(c).max(), volume / total)
            expected = s4.water_level_with_bias(c, y, volume, s)[0] if two else s4.water_level(c, volume, s)
            assert gamma == pytest.approx(expected, abs=1e-11 * scale)
            assert s4.water_level(c + y * b, volume, s) == pytest.approx(gamma, abs=1e-11 * scale)
            assert all(0 <= share <= 1 for share in shares)
            if two:
                assert (gamma, b) == ((x + z) / 2, (z - x) / 2)
                self.assert_balanced(c, y, s, (x, z), shares)
            else:
                assert (b, x) == (0, gamma)

    @staticmethod
    def assert_balanced(c, y, s, levels, shares):
        """As much weight under the one level as under the other, of those at it their share."""
        weights = []
        for label, level, share in zip((1, -1), levels, shares, strict=True):
            own = y == label
            weights.append(s[own & (c < level)].sum() + share * s[own & (c == level)].sum())
        assert weights[0] == pytest.approx(weights[1], rel=1e-9)

    @pytest.mark.parametrize("n", [2, 5, 40])
    @pytest.mark.parametrize("kind", ["random", "tied", "equal"])
    @pytest.mark.parametrize("volume", [0.0, 0.01, 1.0, 30.0])
    def test_no_intercept_is_better(self, n, kind, volume):
        for seed in range(4):
            g, y, s = responses(n, kind, seed)
            c = y * g
            [[gamma, b, *_]] = water_levels(g, y, s, True, [volume])
            far = 10 + volume / s[s > 0].min()
            best = minimize_scalar(
                lambda b, c=c, y=y, s=s: -s4.water_level(c + y * b, volume, s),
                bounds=(-far, far),
                method="bounded",
                options={"xatol": 1e-10},
            )
            near = [s4.water_level(c + y * (b + shift), volume, s) for shift in np.linspace(-2, 2, 401)]
            assert gamma == pytest.approx(-best.fun, rel=1e-6, abs=1e-7)
            assert max(near) <= gamma + 1e-12 * far

    def test_several_volumes_from_the_last_level(self):
        """Each starts from where the last one ended: any order gives the same."""
        g, y, s = responses(5000, "random", 1)
        volumes = list(10 ** np.random.default_rng(0).uniform(-4, 6, size=60))
        for two in (False, True):
            together = water_levels(g, y, s, two, volumes)
            alone = [water_levels(g, y, s, two, [volume])[0] for volume in volumes]
            np.testing.assert_allclose(together, alone, rtol=1e-9, atol=1e-9)

    @pytest.mark.parametrize("n", [70, 1000])
    @pytest.mark.parametrize("slack", [0.0, 1e-12, 1e-3, 0.3])
    @pytest.mark.parametrize("jumps", [0.0, 0.1])
    @pytest.mark.parametrize("two", [False, True])
    def test_of_responses_that_move(self, n, slack, jumps, two):
        """As in the solver: rows of a kernel matrix are added, now and then all is other than expected."""
        random = np.random.default_rng(0)
        _, y, s = responses(n, "random", 1)
        points, rows, volumes = random.normal(size=(n, 3)), [], []
        g = np.zeros(n)
        for t in range(60):
            j = random.integers(n)
            g = g + y[j] * np.exp(-((points - points[j]) ** 2).sum(axis=1)) / np.sqrt(t + 1)
            if random.random() < jumps:
                g = g * 10.0 ** random.integers(-8, 9) + random.normal()
            rows.append(g)
            volumes.append(slack * s.sum() * random.choice([1, 1, 1, 100]))
        for g, volume, (gamma, _, *levels) in zip(
            rows, volumes, native.water_levels(np.array(rows), y, s, two, volumes), strict=True
        ):
            c = y * g
            expected = s4.water_level_with_bias(c, y, volume, s)[0] if two else s4.water_level(c, volume, s)
            assert gamma == pytest.approx(expected, abs=1e-11 * max(np.abs(c).max(), volume / s.sum()))
            if two:
                self.assert_balanced(c, y, s, levels[:2], levels[2:])

    @pytest.mark.parametrize("tiny", [1e-300, 5e-324])
    def test_weights_that_overflow(self, tiny):
        """An estimate of a level may be infinite; what is found may not depend on it."""
        g, y, s = responses(200, "random", 1)
        s = np.where(y > 0, tiny, s)
        volumes = [0.0, 1.0, 1e-200, 0.0]
        for two in (False, True):
            together = water_levels(g, y, s, two, volumes)
            alone = [water_levels(g, y, s, two, [volume])[0] for volume in volumes]
            np.testing.assert_array_equal(np.isfinite(together), np.isfinite(alone))
            finite = np.isfinite(alone)
            np.testing.assert_allclose(np.array(together)[finite], np.array(alone)[finite], rtol=1e-9, atol=1e-9)
