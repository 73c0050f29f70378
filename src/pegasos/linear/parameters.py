"""Parameters of linear estimators that several have."""

from pegasos.base.options import Choice, Number, names
from pegasos.base.parameters import Intercept, QuantileOfLoss, parameter, parameters


@parameters
class ClassificationLoss:
    """The loss of a label."""

    loss: str = parameter("hinge", Choice(values=names("hinge", "squared_hinge", "log_loss"), help="the loss"))


@parameters
class RegressionLoss(QuantileOfLoss):
    """The loss of a target."""

    epsilon: float | None = parameter(
        None,
        Number(
            low=0,
            optional=True,
            help="errors up to this size cost nothing (default 0); with huber they cost half their square (default "
            "0.1)",
        ),
    )
    loss: str = parameter(
        "epsilon_insensitive",
        Choice(
            values=names("epsilon_insensitive", "squared_epsilon_insensitive", "huber", "quantile"), help="the loss"
        ),
    )


@parameters
class ScaledIntercept(Intercept):
    """An intercept that is the weight of a constant feature."""

    intercept_scaling: float = parameter(
        1.0, Number(low=0, open=True, help="value of the constant feature behind the intercept")
    )


@parameters
class KindOfIntercept(ScaledIntercept):
    """An intercept that may be free."""

    intercept: str = parameter(
        "penalized", Choice(values=names("penalized", "free"), help="kind of intercept: in the norm, or not")
    )
