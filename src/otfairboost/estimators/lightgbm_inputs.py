"""What LightGBM alone is passed: columns that it can read, callbacks, a model to continue."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import lightgbm as lgb
import narwhals as nw
import narwhals.dependencies as nwd


def check_columns(X: Any, name: str) -> None:
    """Raise for columns of a polars or pyarrow table that end the whole process in LightGBM 4.7.0."""
    if not nwd.is_into_dataframe(X) or nwd.is_pandas_dataframe(X):  # LightGBM itself reads pandas, and checks it
        return
    supported = (nw.Boolean, nw.Int8, nw.Int16, nw.Int32, nw.Int64, nw.UInt8, nw.UInt16, nw.UInt32, nw.UInt64,
                 nw.Float32, nw.Float64)  # fmt: skip
    schema = nw.from_native(X, eager_only=True).schema
    refused = [f"{column!r} ({dtype})" for column, dtype in schema.items() if dtype not in supported]
    if refused:
        raise ValueError(
            f"{name} has columns that LightGBM cannot read: {', '.join(refused)}; allowed are integers, floats and "
            "booleans (for categories: integer codes and categorical_feature, or pandas)"
        )


def read_callbacks(callbacks: Any) -> list[Callable[..., Any]]:
    """Return the callbacks as a list of their own."""
    if callbacks is not None and not isinstance(callbacks, list | tuple | set):
        raise TypeError(f"callbacks must be a list of functions, got {type(callbacks).__name__}")
    for one in callbacks or ():
        if not callable(one):
            raise TypeError(f"callbacks must be a list of functions, but it holds {one!r}")
    return list(callbacks or ())


def name_evaluation_set(eval_names: Any, i: int, *, is_train: bool) -> str:
    """Return the name that LightGBM gives the i-th evaluation set."""
    names: Sequence[str] = [eval_names] if isinstance(eval_names, str) else eval_names or []
    if i < len(names):
        return names[i]
    return "training" if is_train else f"valid_{i}"


def read_init_model(init_model: Any, n_outputs: int = 1) -> lgb.Booster | None:
    """Return the booster to continue from, which has as many trees per iteration as there are outputs."""
    if isinstance(init_model, lgb.LGBMModel):
        init_model = init_model.booster_
    elif isinstance(init_model, str | Path):
        init_model = lgb.Booster(model_file=init_model)
    if init_model is None:
        return None
    if not isinstance(init_model, lgb.Booster):
        raise TypeError(
            f"init_model is a {type(init_model).__name__}; allowed are a file name, a Booster and a fitted estimator"
        )
    if init_model.num_model_per_iteration() != n_outputs:
        wanted = (
            "one, for a binary target or regression," if n_outputs == 1 else f"{n_outputs}, one for each class of y,"
        )
        raise ValueError(
            f"init_model has {init_model.num_model_per_iteration()} trees per iteration; only a model with {wanted} "
            "can be continued"
        )
    return init_model
