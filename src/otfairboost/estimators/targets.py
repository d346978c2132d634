"""The target as users pass it: classes, or numbers."""

from typing import Any

import numpy as np
from sklearn.preprocessing import LabelEncoder
from sklearn.utils.multiclass import check_classification_targets

from otfairboost.criteria import Target
from otfairboost.estimators.inputs import read_column, read_numbers


def read_labels(y: Any, name: str) -> tuple[LabelEncoder, Target]:
    """Return the encoder of the classes, of which there must be at least two, and the target."""
    check_classification_targets(read_column(y, name))
    encoder = LabelEncoder().fit(y)
    classes = encoder.classes_
    if len(classes) < 2:
        raise ValueError(
            f"{name} must have at least 2 classes with fairness_weight > 0 or fairness metrics, got one class "
            f"({', '.join(map(str, classes))})"
        )
    return encoder, Target(encoder.transform(y).astype(np.float32), tuple(classes.tolist()))


def encode_labels(y: Any, encoder: LabelEncoder, name: str) -> Target:
    """Return a target in the classes of another one."""
    classes = tuple(encoder.classes_.tolist())
    unknown = sorted(set(read_column(y, name).tolist()) - set(classes), key=str)
    if unknown:
        raise ValueError(f"{name} holds labels that were not seen in training: {unknown}; seen were {list(classes)}")
    return Target(encoder.transform(y).astype(np.float32), classes)


def read_values(y: Any, name: str, *, warn: bool = False) -> Target:
    """Return a target of numbers."""
    return Target(read_numbers(y, name, warn=warn).astype(np.float32), None)
