"""What a model file holds of a machine for sequences: weights, features, and where a fit continues."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pegasos._core import native
from pegasos.base.options import Integer
from pegasos.base.validation import check_cost
from pegasos.io.model import Features, Header, Kind, Tensors, take
from pegasos.io.text import HASH, check_hash
from pegasos.problems.sequence import Labellings
from pegasos.sequence.input import KINDS, Encoder
from pegasos.sequence.svc import SequenceSVC
from pegasos.sequence.templates import Template
from pegasos.solvers import SEQUENCE_SOLVERS


def _pack(model: SequenceSVC) -> tuple[Tensors, Header]:
    """Tensors and entries of the header."""
    model.check_parameters()
    encoder = model._encoder
    tensors: Tensors = {
        "coef": model.coef_,
        "intercept": model.intercept_,
        "transitions": model.transitions_,
        "start": model.start_,
        "end": model.end_,
    }
    if _has_vocabulary(encoder):
        tensors["vocabulary.characters"], tensors["vocabulary.ends"] = encoder.vocabulary.arrays()
    last = model._last
    if model.warm_start and last is not None:
        tensors |= {"dual.owners": last.owners, "dual.shares": last.shares, "dual.labels": last.labels}
    header: Header = {"kind": encoder.kind, "min_count": encoder.min_count, "hash_bits": None}
    if encoder.hash_bits is not None:
        header |= {"hash_bits": int(encoder.hash_bits), "hash": HASH}
    return tensors, {"encoder": header}


def _unpack(model: SequenceSVC, header: Header, tensors: Tensors) -> int:
    """Give the model what was packed; a ValueError where it does not fit together."""
    model.check_parameters()
    n_labels = len(model.classes_)
    if model.classes_.dtype.kind not in "biuU" or n_labels > 65_535:
        raise ValueError(f"{n_labels} labels of type {model.classes_.dtype}")
    check_cost(model.cost, n_labels)
    # In the order in memory that a fit has, so that predictions are the same to the last bit.
    model.coef_ = np.asfortranarray(take(tensors, "coef", (n_labels, None)))
    model.intercept_ = take(tensors, "intercept", (n_labels,))
    model.transitions_ = take(tensors, "transitions", (n_labels, n_labels), finite=False)
    model.start_ = take(tensors, "start", (n_labels,), finite=False)
    model.end_ = take(tensors, "end", (n_labels,), finite=False)
    if not _has_links_of(model):
        raise ValueError("'transitions', 'start' or 'end' is not finite, or not where constraints forbid a link")
    model.n_features_in_ = model.coef_.shape[1]
    model._encoder = _unpack_encoder(header["encoder"], tensors, model.n_features_in_)
    model._last = _unpack_dual(tensors, n_labels) if "dual.owners" in tensors else None
    return 0


def _pack_template(template: Template) -> tuple[Tensors, Header]:
    """What makes the features, for the header."""
    text = template.text if isinstance(template.text, str) else list(template.text)
    return {}, {"text": text, "columns": getattr(template, "n_features_in_", template.n_columns)}


def _unpack_template(given: dict[str, Any], tensors: Tensors, model: SequenceSVC) -> Template:
    """The template that was packed; a ValueError where it is none."""
    if not isinstance(given["text"], str | list):
        raise ValueError(f"a template {given['text']!r}")
    template = Template(given["text"]).fit()
    Integer(low=template.n_columns, help="").check("columns", given["columns"])
    template.n_features_in_ = given["columns"]
    return template


def _has_links_of(model: SequenceSVC) -> bool:
    """Whether links are minus infinity where constraints forbid them, and finite elsewhere."""
    links = np.vstack([model.transitions_, model.start_, model.end_])
    return bool(np.where(np.isneginf(model._barriers(model.classes_)), np.isneginf(links), np.isfinite(links)).all())


def _has_vocabulary(encoder: Encoder) -> bool:
    return encoder.kind == "features" and encoder.hash_bits is None


def _unpack_encoder(given: dict[str, Any], tensors: Tensors, n_features: int) -> Encoder:
    for name in ("min_count", "hash_bits"):
        SequenceSVC.options[name].check(name, given[name])
    if given["hash_bits"] is not None:
        check_hash(given.get("hash"))
    encoder = Encoder(given["min_count"], given["hash_bits"])
    if given["kind"] not in KINDS:
        raise ValueError(f"sequences of kind {given['kind']!r}, which this version does not know")
    encoder.kind, encoder.n_features = given["kind"], n_features
    expected = n_features
    if _has_vocabulary(encoder):
        encoder.vocabulary = _unpack_vocabulary(tensors)
        expected = len(encoder.vocabulary)
    elif encoder.kind == "features":
        expected = 2 ** given["hash_bits"]
    if n_features != expected:
        raise ValueError(f"weights of {n_features} features, where there are {expected}")
    return encoder


def _unpack_vocabulary(tensors: Tensors) -> native.Vocabulary:
    ends = take(tensors, "vocabulary.ends", (None,), dtype=np.int64)
    characters = take(tensors, "vocabulary.characters", (int(ends[-1]) if len(ends) else 0,), dtype=np.uint8)
    try:
        return native.Vocabulary(characters, ends)
    except ValueError as error:
        raise ValueError(f"'vocabulary': {error}") from None


def _unpack_dual(tensors: Tensors, n_labels: int) -> Labellings:
    """Labellings of the sequences, in their order, with their shares."""
    owners: NDArray[np.uint32] = take(tensors, "dual.owners", (None,), dtype=np.uint32)
    shares = take(tensors, "dual.shares", (len(owners),))
    labels: NDArray[np.uint16] = take(tensors, "dual.labels", (None,), dtype=np.uint16)
    steps = np.diff(owners.astype(np.int64), prepend=-1)
    if not np.isin(steps, (0, 1)).all():
        raise ValueError("'dual.owners' does not count the sequences")
    if not ((shares >= 0) & (shares <= 1 + 1e-6)).all():
        raise ValueError("'dual.shares' has numbers in it that are not between 0 and 1")
    if not (labels < n_labels).all():
        raise ValueError(f"'dual.labels' has numbers in it that are none of {n_labels} labels")
    return Labellings(owners, shares, labels)


TEMPLATE = Features("template", lambda: (Template,), _pack_template, _unpack_template)

MODEL_KINDS = [Kind(SequenceSVC, SEQUENCE_SOLVERS, _pack, _unpack, (TEMPLATE,))]
