"""What users pass to ``fit``, read and checked: columns, weights, initial scores, evaluation sets."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import narwhals as nw
import narwhals.dependencies as nwd
import numpy as np
from numpy.typing import NDArray
from sklearn.utils import column_or_1d
from sklearn.utils.class_weight import compute_sample_weight

from otfairboost.attributes import Attributes
from otfairboost.criteria import Control, Target

Float32 = NDArray[np.float32]


class Rows(NamedTuple):
    """One set of rows, read and checked. Weights are empty where all rows weigh 1.

    Attributes
    ----------
    name, features_name : str
        What to call the rows, and their sensitive features, in messages.
    X
        As the booster takes it.
    target : Target
    weight : float32 array of shape (n_rows,)
        In metrics and, up to weights of labels, in the loss.
    distribution_weight : float32 array of shape (n_rows,)
        In the groups' score distributions.
    groups : Attributes or None
    init_score : float64 array of shape (n_rows,), or (n_rows, n_classes) with more than two classes, or None
    control : Control or None
        Control features; ``target`` has their codes as well.
    """

    name: str
    features_name: str
    X: Any
    target: Target
    weight: Float32
    distribution_weight: Float32
    groups: Attributes | None
    init_score: NDArray[np.float64] | None
    control: Control | None = None

    @property
    def control_name(self) -> str:
        """Return what to call the control features in messages."""
        return self.features_name.replace("sensitive", "control")


class ArgumentNames(NamedTuple):
    """What a booster's estimators call the arguments of ``fit``, for messages. The defaults are LightGBM's."""

    init_score: str = "init_score"
    init_model: str = "init_model"
    evaluation_set: str = "eval_X, eval_y"
    eval_X: str = "eval_X[{}]"
    eval_y: str = "eval_y[{}]"
    eval_sample_weight: str = "eval_sample_weight"
    eval_init_score: str = "eval_init_score"


LIGHTGBM_NAMES = ArgumentNames()


class EvaluationInput(NamedTuple):
    """What the user passes for one evaluation set."""

    X: Any
    y: Any
    sample_weight: Any
    class_weight: Any
    init_score: Any
    sensitive_features: Any
    control_features: Any = None


class FitArguments(NamedTuple):
    """The arguments of ``fit``, with the evaluation sets sorted; what a booster does not have stays at its default."""

    X: Any
    y: Any
    sample_weight: Any = None
    init_score: Any = None
    sensitive_features: Any = None
    evaluations: Sequence[EvaluationInput] = ()
    eval_names: Any = None
    eval_metric: Any = None
    feature_name: Any = "auto"
    categorical_feature: Any = "auto"
    callbacks: Any = None
    init_model: Any = None
    verbose: Any = None
    control_features: Any = None


def read_column(values: Any, name: str, *, warn: bool = False) -> NDArray[Any]:
    """Return a 1-D array without missing values; ``warn`` of columns that are 2-D arrays, as scikit-learn does."""
    if values is None:
        raise ValueError(f"{name} should be a 1d array with one value per row, got None")
    series = nw.from_native(values, eager_only=True, series_only=True, pass_through=True)
    column = np.asarray(series.to_numpy() if isinstance(series, nw.Series) else values)
    if column.shape[1:] == (1,):
        column = column_or_1d(column, warn=warn)
    if column.ndim != 1:
        raise ValueError(f"{name} should be a 1d array, got an array of shape {column.shape}")
    n_missing = int(series.null_count()) if isinstance(series, nw.Series) else 0
    if column.dtype.kind == "f":
        if np.isinf(column).any():
            raise ValueError(f"{name} contains infinity; it must be finite")
        n_missing = max(n_missing, int(np.isnan(column).sum()))
    elif column.dtype.kind in "OmM":
        n_missing = max(n_missing, sum(map(_is_missing, column.tolist())))
    if n_missing:
        raise ValueError(f"{name} contains {n_missing} missing values (NaN); it must have none")
    return column


def read_numbers(values: Any, name: str, *, warn: bool = False) -> NDArray[Any]:
    """Return a 1-D array of finite numbers that stay finite as float32, which is how boosters keep them."""
    column = read_column(values, name, warn=warn)
    if column.dtype.kind == "O":
        try:
            column = column.astype(np.float64)
        except (TypeError, ValueError):
            raise ValueError(f"{name} must be numbers, got for example {column[0]!r}") from None
    if column.dtype.kind not in "biuf":
        raise ValueError(f"{name} must be numbers, got {column.dtype}")
    largest = float(np.finfo(np.float32).max)
    if len(column) and not max(abs(float(column.min())), abs(float(column.max()))) <= largest:
        raise ValueError(f"{name} has values beyond {largest:g}, which the booster's single precision cannot hold")
    return column


def read_weight(weight: Any, n_rows: int, name: str, *, other: str = "X") -> NDArray[np.float64]:
    """Return weights; empty if none are given."""
    if weight is None:
        return np.empty(0)
    column = read_numbers(weight, name).astype(np.float64)
    check_length(column, n_rows, name, other=other)
    if (column < 0).any():
        raise ValueError(f"{name} must not be negative, got {column.min():g}")
    if not column.astype(np.float32).any():  # the booster's precision
        raise ValueError(f"{name} is zero for every row; at least one must be positive")
    return column


def read_init_score(
    init_score: Any, n_rows: int, name: str, *, other: str = "X", n_outputs: int = 1
) -> NDArray[np.float64] | None:
    """Return the raw predictions to start from: one for each row, or one column for each of several outputs.

    As in LightGBM the columns may also come one after the other.
    """
    if init_score is None:
        return None
    if n_outputs > 1:
        return _read_init_columns(init_score, n_rows, name, other, n_outputs)
    column = read_numbers(init_score, name).astype(np.float64)
    check_length(column, n_rows, name, other=other)
    return column


def _read_init_columns(init_score: Any, n_rows: int, name: str, other: str, n_outputs: int) -> NDArray[np.float64]:
    table = nw.from_native(init_score, eager_only=True, pass_through=True)
    values = np.asarray(table.to_numpy() if isinstance(table, nw.DataFrame) else init_score)
    if values.ndim == 1 and values.shape == (n_rows * n_outputs,):
        values = values.reshape(n_rows, n_outputs, order="F")
    if values.shape != (n_rows, n_outputs):
        raise ValueError(
            f"{name} has shape {values.shape}, but y has {n_outputs} classes and {other} has {n_rows} rows; allowed "
            f"are ({n_rows}, {n_outputs}) and, one class after the other, ({n_rows * n_outputs},)"
        )
    read_numbers(values.ravel(order="F"), name)
    return np.asfortranarray(values, dtype=np.float64)


def check_length(values: Any, n_rows: int, name: str, *, other: str = "X") -> None:
    """Raise unless there is one value for each row."""
    if len(values) != n_rows:
        raise ValueError(f"{name} has {len(values)} rows, but {other} has {n_rows}; both need the same number")


def refuse_collections(X: Any, name: str, kind: str) -> None:
    """Raise for rows on a cluster, which would be fetched one and all; ``kind``: what is to be fitted."""
    module = type(X).__module__.split(".")[0]
    if module == "dask":
        raise TypeError(
            f"{name} is a Dask collection, which this estimator would fetch to one machine; "
            f"use otfairboost.distributed.DaskFairXGB{kind} (lightgbm.dask cannot add up the workers' histograms)"
        )
    if module == "pyspark":
        raise TypeError(
            f"{name} is a Spark data frame; xgboost.spark takes no objective but its own: "
            f"use otfairboost.distributed.DaskFairXGB{kind}, or read the rows on one machine"
        )


def read_features(X: Any, name: str, read_array: Callable[..., Any], *, least: int) -> Any:
    """Check X as the boosters' estimators do: data frames go to the booster as they are, the rest becomes an array."""
    if not nwd.is_into_dataframe(X):
        X = read_array(X, accept_sparse=True, ensure_all_finite=False, ensure_min_samples=0)
    if X.shape[0] < least:
        raise ValueError(f"{name} has {X.shape[0]} sample(s); at least {least} are needed")
    return X


def read_class_weight(class_weight: Any, target: Target, weight: NDArray[np.float64], name: str) -> NDArray[np.float64]:
    """Return weights times those of the rows' classes."""
    if class_weight is None:
        return weight
    if isinstance(class_weight, dict) and target.classes is not None:
        code_of = {label: code for code, label in enumerate(target.classes)}
        unknown = [label for label in class_weight if label not in code_of]
        if unknown:
            raise ValueError(f"{name} holds labels that y has not: {unknown}; y has {list(target.classes)}")
        class_weight = {code_of[label]: value for label, value in class_weight.items()}
    factor = read_weight(compute_sample_weight(class_weight, target.values), len(target.values), name)
    return factor * weight if len(weight) else factor


def read_evaluation_inputs(
    eval_set: Any,
    eval_X: Any,
    eval_y: Any,
    eval_sample_weight: Any,
    eval_class_weight: Any,
    eval_init_score: Any,
    eval_sensitive_features: Any,
    names: ArgumentNames = LIGHTGBM_NAMES,
    eval_control_features: Any = None,
) -> list[EvaluationInput]:
    """Sort the ``eval_*`` arguments by evaluation set."""
    pairs = _pair(eval_set, eval_X, eval_y)
    features = _sort_features(eval_sensitive_features, len(pairs), names, "eval_sensitive_features")
    control = _sort_features(eval_control_features, len(pairs), names, "eval_control_features")
    return [
        EvaluationInput(
            X,
            y,
            _item(eval_sample_weight, i, len(pairs), names.eval_sample_weight),
            _item(eval_class_weight, i, len(pairs), "eval_class_weight"),
            _item(eval_init_score, i, len(pairs), names.eval_init_score),
            features[i],
            control[i],
        )
        for i, (X, y) in enumerate(pairs)
    ]


def _pair(eval_set: Any, eval_X: Any, eval_y: Any) -> list[tuple[Any, Any]]:
    if eval_set is not None:
        if eval_X is not None or eval_y is not None:
            raise ValueError("eval_set and eval_X, eval_y say the same; give one of them")
        pairs = [eval_set] if isinstance(eval_set, tuple) else list(eval_set)
        for i, pair in enumerate(pairs):
            if not isinstance(pair, tuple | list) or len(pair) != 2:
                raise ValueError(f"eval_set[{i}] must be a pair (X, y), got {type(pair).__name__}")
        return [(X, y) for X, y in pairs]
    if (eval_X is None) != (eval_y is None):
        given, missing = ("eval_X", "eval_y") if eval_y is None else ("eval_y", "eval_X")
        raise ValueError(f"eval_X and eval_y go together; {given} is given and {missing} is not")
    if eval_X is None:
        return []
    if not isinstance(eval_X, tuple) and not isinstance(eval_y, tuple):
        return [(eval_X, eval_y)]
    if not (isinstance(eval_X, tuple) and isinstance(eval_y, tuple) and len(eval_X) == len(eval_y)):
        raise ValueError("eval_X and eval_y must both be tuples of the same length, or neither a tuple")
    return list(zip(eval_X, eval_y, strict=True))


def _item(collection: Any, i: int, count: int, name: str) -> Any:
    """Return the i-th evaluation set's entry of an argument; as in LightGBM there may be fewer entries than sets."""
    if collection is None:
        return None
    if isinstance(collection, dict):
        if not set(collection) <= set(range(count)):
            raise ValueError(f"{name} has the keys {list(collection)}; allowed are the numbers of the evaluation sets")
        return collection.get(i)
    if not isinstance(collection, list | tuple):
        raise TypeError(f"{name} must be a list with one entry per evaluation set, got {type(collection).__name__}")
    if len(collection) > count:
        raise ValueError(f"{name} has {len(collection)} entries, but there are {count} evaluation sets")
    return collection[i] if i < len(collection) else None


def _sort_features(features: Any, count: int, names: ArgumentNames, name: str) -> list[Any]:
    """Return the columns of each evaluation set: the only such arguments that may come without a list."""
    if features is None:
        return [None] * count
    if count == 0:
        wanted = names.evaluation_set.replace(", ", " and ")
        raise ValueError(f"{name} is given, but there is no evaluation set; give {wanted} as well")
    if isinstance(features, dict):
        return [_item(features, i, count, name) for i in range(count)]
    if isinstance(features, list | tuple) and len(features) == count and (count > 1 or not _is_scalar(features[0])):
        return list(features)
    if count == 1:
        return [features]
    if isinstance(features, list | tuple):
        raise ValueError(f"{name} has {len(features)} entries, but there are {count} evaluation sets")
    raise TypeError(f"{name} must be a list with one entry per evaluation set, got {type(features).__name__}")


def _is_scalar(value: Any) -> bool:
    return isinstance(value, str | bytes) or np.isscalar(value)


def _is_missing(value: Any) -> bool:
    if value is None or type(value).__name__ in {"NAType", "NaTType"}:
        return True
    return isinstance(value, float | np.floating) and bool(np.isnan(value))
