"""Estimators for sequences of labels, and for features of example and label together."""

from pegasos.io.model import register
from pegasos.sequence.chunks import ChunkCounts, ChunkScores, chunk_scores, find_chunks, to_iob2
from pegasos.sequence.feature_map import FeatureMapSVC
from pegasos.sequence.model_file import MODEL_KINDS
from pegasos.sequence.svc import ForbiddenLink, SequenceSVC
from pegasos.sequence.templates import Template

__all__ = [
    "ChunkCounts",
    "ChunkScores",
    "FeatureMapSVC",
    "ForbiddenLink",
    "SequenceSVC",
    "Template",
    "chunk_scores",
    "find_chunks",
    "to_iob2",
]

register(*MODEL_KINDS)
