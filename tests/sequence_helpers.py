"""Small sentences of words with labels B-X, I-X, B-Y, I-Y and O."""

import numpy as np


def make_sentences(count, seed=0):
    """Of each sentence its positions, pairs of a word and its label; the words tell the label but for some noise."""
    random = np.random.default_rng(seed)
    sentences = []
    for _ in range(count):
        sentence, inside = [], None
        for _ in range(random.integers(1, 9)):
            label = str(random.choice(["O", "B-X", "B-Y", *([f"I-{inside}"] * 3 if inside else [])]))
            inside = None if label == "O" else label[2:]
            noise = random.random() < 0.1
            sentence.append((f"w{random.integers(20)}" if noise else f"{label.lower()}{random.integers(4)}", label))
        sentences.append(sentence)
    return sentences


def as_strings(sentences):
    """X and y as lists of lists of feature strings, and of labels."""
    return [[["w=" + word, "i=" + word[0]] for word, _ in sentence] for sentence in sentences], labels(sentences)


def as_dicts(sentences):
    """The same, the features in dictionaries."""
    X = [[{"w": word, "digit": float(word[-1]), "new": word[0] == "b"} for word, _ in own] for own in sentences]
    return X, labels(sentences)


def as_arrays(sentences):
    """The same, an array for each sentence."""
    X = [np.array([[word[0] == "b", word[0] == "i", float(word[-1])] for word, _ in own]) for own in sentences]
    return X, labels(sentences)


def labels(sentences):
    return [[label for _, label in sentence] for sentence in sentences]
