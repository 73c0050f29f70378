"""The features with the largest weights."""

from collections.abc import Sequence
from typing import Any, Self

from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from pegasos.plot.axes import BLUE, RED, make_axes, one_or_all, plain, tidy
from pegasos.summary import Weights, feature_names_of, has_weights, largest_weights, machine_of


class TopFeaturesDisplay:
    """The features with the largest weights, as bars. With more than two classes, each class has its own axes.

    Use `from_estimator`.

    Parameters
    ----------
    weights : list of Weights
        The names and weights of each problem.

    Attributes
    ----------
    ax_ : matplotlib Axes, or ndarray of them
        The axes.
    figure_ : matplotlib Figure
        The figure.
    bars_ : list of matplotlib BarContainer
        The bars of each problem.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from pegasos import LinearSVC
    >>> from pegasos.plot import TopFeaturesDisplay
    >>> data = load_breast_cancer()
    >>> clf = LinearSVC(scale=True, intercept="free", random_state=0).fit(data.data, data.target)
    >>> display = TopFeaturesDisplay.from_estimator(clf, top=3, feature_names=data.feature_names)
    >>> len(display.weights[0].names)
    6
    """

    ax_: Any
    figure_: Any
    bars_: list[Any]

    def __init__(self, weights: Sequence[Weights]) -> None:
        self.weights = list(weights)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        top: int = 10,
        feature_names: ArrayLike | None = None,
        classes: Sequence[Any] | None = None,
        ax: Any = None,
        **options: Any,
    ) -> Self:
        """Draw the largest weights.

        Parameters
        ----------
        estimator : estimator or Pipeline
            A fitted estimator that is linear or has a linear kernel, or a pipeline that ends with one. The other steps
            of the pipeline name the features.
        top : int, default=10
            How many weights of each sign to show.
        feature_names : array-like of str, default=None
            The names of the features. None means the names that the model has, otherwise x0, x1, ...
        classes : list of labels, default=None
            With more than two classes, the classes to draw; None means all.
        ax : matplotlib Axes, or one for each class, default=None
            Where to draw; None makes a new figure.
        **options
            Parameters of `plot`.
        """
        check_is_fitted(machine_of(estimator))
        if not has_weights(estimator):
            raise ValueError(
                f"the features of a {type(machine_of(estimator)).__name__} have no weights of their own, as its kernel "
                "is not linear"
            )
        weights = largest_weights(estimator, top, feature_names_of(estimator, feature_names), classes)
        if not weights:
            raise ValueError(f"classes={classes!r}: none of them has weights; pass some of classes_, or None")
        return cls(weights).plot(ax, **options)

    def plot(self, ax: Any = None, **bar: Any) -> Self:
        """Draw; `bar` is passed on to ``Axes.barh``."""
        most = max(len(one.names) for one in self.weights)
        axes = make_axes(ax, len(self.weights), (4.6, 1.0 + 0.24 * most))
        self.bars_ = []
        for own, one in zip(axes, self.weights, strict=True):
            places = list(range(len(one.names)))
            colours = [BLUE if value > 0 else RED for value in one.values]
            self.bars_.append(own.barh(places, one.values, **{"color": colours, **bar}))
            own.set_yticks(places, [plain(name if len(name) <= 30 else f"{name[:29]}…") for name in one.names])
            own.invert_yaxis()
            own.axvline(0, color="black", linewidth=0.8)
            own.set_xlabel("weight")
            own.locator_params(axis="x", nbins=5)  # or their labels run into each other
            own.set_title(plain(one.title), fontsize="medium")
            tidy(own)
        self.ax_, self.figure_ = one_or_all(axes), axes[0].figure
        return self
