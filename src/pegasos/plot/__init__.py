"""Plots of fits, with scikit-learn's conventions for displays. They need matplotlib, and import it when they draw.

scikit-learn's own displays, such as `DecisionBoundaryDisplay` and `RocCurveDisplay`, take these estimators too.
"""

from pegasos.plot.convergence import ConvergenceDisplay
from pegasos.plot.features import TopFeaturesDisplay
from pegasos.plot.margins import MarginDisplay
from pegasos.plot.path import PathDisplay
from pegasos.plot.transitions import TransitionsDisplay

__all__ = ["ConvergenceDisplay", "MarginDisplay", "PathDisplay", "TopFeaturesDisplay", "TransitionsDisplay"]
