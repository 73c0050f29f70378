"""
Regression with outliers: squared, absolute and Huber loss
==========================================================

Squared losses follow outliers, because an error of ten costs a hundred. Absolute errors and Huber's loss grow by the
size of the error only.
"""

import matplotlib.pyplot as plt
import numpy as np

from pegasos import LinearSVR

rng = np.random.default_rng(0)
x = rng.uniform(0, 10, 80)
y = 1.5 * x - 3 + rng.normal(0, 1, 80)
wild = x > 8.2
y[wild] -= 18

losses = {
    "squared_epsilon_insensitive": {"epsilon": 0.0},
    "epsilon_insensitive": {"epsilon": 0.5},
    "huber": {"epsilon": 1.0},
}
errors = np.linspace(-4, 4, 200)
curves = {
    "squared_epsilon_insensitive": errors**2,
    "epsilon_insensitive": np.maximum(0, np.abs(errors) - 0.5),
    "huber": np.where(np.abs(errors) <= 1, errors**2 / 2, np.abs(errors) - 0.5),
}

figure, (left, right) = plt.subplots(1, 2, figsize=(10.5, 4.6), width_ratios=(1, 1.5), layout="constrained")
right.scatter(x[~wild], y[~wild], s=12, color="0.4")
right.scatter(x[wild], y[wild], s=18, color="crimson", marker="x", label="wild targets")
ends = np.array([[0.0], [10.0]])
for name, options in losses.items():
    reg = LinearSVR(loss=name, C=10, intercept="free", random_state=0, **options).fit(x[:, None], y)
    right.plot(ends, reg.predict(ends), label=f"{name}: slope {reg.coef_[0]:.2f}")
    left.plot(errors, curves[name], label=name)
right.plot(ends, 1.5 * ends - 3, "k:", linewidth=1, label="what made the data: slope 1.50")
left.set(xlabel="error", ylabel="loss", ylim=(0, 6))
right.set(xlabel="x", ylabel="y")
for ax, columns in ((left, 1), (right, 2)):
    ax.legend(frameon=False, fontsize="small", loc="upper center", bbox_to_anchor=(0.5, -0.15), ncols=columns)
