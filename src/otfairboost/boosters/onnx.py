"""Boosters as ONNX, for runtimes that have no LightGBM."""

import json
import re
from collections.abc import Mapping
from typing import Any

import lightgbm as lgb

from otfairboost.extras import require


def to_onnx(booster: lgb.Booster, *, metadata: Mapping[str, Any] | None = None) -> bytes:
    """Return a booster as an ONNX model.

    Parameters
    ----------
    booster : lightgbm.Booster
    metadata : mapping, optional
        Names and values to keep in the model, as JSON.

    Returns
    -------
    bytes
        The model: one input ``X`` of float32 and shape (n_rows, n_features); outputs ``label`` and ``probabilities``,
        or ``variable`` in regression.

    Notes
    -----
    ONNX compares in single precision, so a value within its rounding of a split may take the other side.
    """
    onnxmltools = require("onnxmltools", "onnx")
    from onnxmltools.convert.common.data_types import FloatTensorType

    text = booster.model_to_string()
    if re.search(r"^is_linear=1", text, flags=re.MULTILINE):
        raise ValueError("the model has linear trees, which ONNX converters drop; train it without linear_tree")
    types = [("X", FloatTensorType([None, booster.num_feature()]))]
    model = onnxmltools.convert_lightgbm(booster, initial_types=types, zipmap=False)
    for key, value in (metadata or {}).items():
        entry = model.metadata_props.add()
        entry.key, entry.value = key, value if isinstance(value, str) else json.dumps(value)
    return bytes(model.SerializeToString())
