"""
Probabilities and calibration
=============================

With ``loss="log_loss"`` the scores are log-odds. The hinge losses have none; scikit-learn's calibration can make
probabilities of their scores. Of all days for which a model says 70%, 70% should be rainy: such a model is on the
diagonal.
"""

import matplotlib.pyplot as plt
from sklearn.calibration import CalibratedClassifierCV, CalibrationDisplay
from sklearn.datasets import make_classification
from sklearn.metrics import brier_score_loss
from sklearn.model_selection import train_test_split

from pegasos import LinearSVC

X, y = make_classification(8000, 20, n_informative=6, flip_y=0.1, class_sep=0.8, random_state=1)
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)

models = {
    "log_loss": LinearSVC(loss="log_loss", C=0.1, random_state=0),
    "hinge, calibrated (sigmoid)": CalibratedClassifierCV(LinearSVC(C=0.1, random_state=0), cv=3),
    "hinge, calibrated (isotonic)": CalibratedClassifierCV(LinearSVC(C=0.1, random_state=0), cv=3, method="isotonic"),
}
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4))
for name, model in models.items():
    chance = model.fit(X_train, y_train).predict_proba(X_test)[:, 1]
    score = brier_score_loss(y_test, chance)
    CalibrationDisplay.from_predictions(y_test, chance, n_bins=10, name=f"{name}: {score:.4f}", ax=left)
    right.hist(chance, bins=25, histtype="step", label=name)
left.legend(title="Brier score", frameon=False, fontsize="small")
right.set(xlabel="probability of class 1", ylabel="examples")
figure.tight_layout()
