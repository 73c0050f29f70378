"""
Text classification, and the words that decide
==============================================

Texts become sparse rows of word weights. A linear machine over them is fast, and can be read: each word has a weight
for each class. The texts here are the documentation of functions in four parts of SciPy, so nothing has to be
downloaded.
"""

import inspect

import matplotlib.pyplot as plt
import scipy.linalg
import scipy.ndimage
import scipy.signal
import scipy.special
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import ConfusionMatrixDisplay
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline

from pegasos import LinearSVC
from pegasos.plot import TopFeaturesDisplay

texts, labels = [], []
for module in (scipy.linalg, scipy.ndimage, scipy.signal, scipy.special):
    for name in module.__all__:
        text = inspect.getdoc(getattr(module, name))
        if text and len(text) > 200 and not inspect.ismodule(getattr(module, name)):
            texts.append(text)
            labels.append(module.__name__.rpartition(".")[2])

vectorizer = TfidfVectorizer(token_pattern=r"[a-z]{3,}", min_df=3, stop_words="english")
model = make_pipeline(vectorizer, LinearSVC(C=1.0, random_state=0))
guessed = cross_val_predict(model, texts, labels, cv=5)

figure, ax = plt.subplots(figsize=(4.6, 4))
ConfusionMatrixDisplay.from_predictions(labels, guessed, ax=ax, cmap="Blues", colorbar=False)
figure.tight_layout()

# %%
# Each class is trained against the rest; these words speak most for it (blue) and against it (red).

model.fit(texts, labels)
print(f"{len(texts)} texts, {model[-1].n_features_in_} words, gap {model[-1].certificate_.gap:.1e}")
figure, axes = plt.subplots(1, 4, figsize=(13, 4))
TopFeaturesDisplay.from_estimator(model, top=6, ax=axes)
figure.tight_layout()
