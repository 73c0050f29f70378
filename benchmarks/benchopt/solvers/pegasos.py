"""A solver for benchopt's benchmark of linear SVMs without intercept: ``1/2 ||w||^2 + C sum_i hinge_i``.

Copy it to the folder ``solvers`` of a clone of benchopt/benchmark_linear_svm_binary_classif_no_intercept, and
``benchopt run . -s pegasos -s sklearn``. benchopt asks for smaller and smaller tolerances; here a tolerance is a
relative duality gap, and every point has its certificate.
"""

import warnings

from benchopt import BaseSolver
from sklearn.exceptions import ConvergenceWarning

from pegasos import LinearSVC


class Solver(BaseSolver):
    name = "pegasos"
    install_cmd = "conda"
    requirements = ("pip::pegasos",)
    sampling_strategy = "tolerance"
    parameters = {"solver": ["auto"]}  # noqa: RUF012 (benchopt reads it as it is)
    parameter_template = "{solver}"

    def set_objective(self, X, y, C):
        self.X, self.y = X, y
        self.model = LinearSVC(
            C=C, solver=self.solver, fit_intercept=False, max_iter=10**9, max_time=600.0, random_state=0
        )
        warnings.simplefilter("ignore", ConvergenceWarning)

    def run(self, tolerance):
        # Rounding keeps a gap from becoming smaller than this.
        self.model.set_params(tol=max(float(tolerance), 1e-12)).fit(self.X, self.y)

    def get_result(self):
        return {"beta": self.model.coef_.ravel()}
