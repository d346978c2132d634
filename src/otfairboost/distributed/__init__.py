"""Training on many machines: XGBoost on Dask, or anywhere that XGBoost's own collective runs, such as Ray Train."""

from importlib import import_module
from typing import Any

from otfairboost.extras import require

ESTIMATORS = ("DaskFairXGBClassifier", "DaskFairXGBRegressor")
LAZY = {
    **dict.fromkeys(ESTIMATORS, "dask_estimators"),
    "WorkerLostError": "failures",
    "fit_shard": "shards",
}
"""Names and the modules that hold them, which need an extra and are imported when they are asked for."""

_LIGHTGBM = (
    "lightgbm.dask runs the objective on each worker's own rows and offers no way to add up their histograms: every "
    "worker would train towards a penalty of its own"
)
_SPARK = "xgboost.spark takes no objective but XGBoost's own"
REFUSED = {
    **dict.fromkeys(("DaskFairLGBMClassifier", "DaskFairLGBMRegressor"), _LIGHTGBM),
    **dict.fromkeys(("SparkFairXGBClassifier", "SparkFairXGBRegressor"), _SPARK),
}
"""Names one may look for, and why they are not there."""


def __getattr__(name: str) -> Any:
    if name in REFUSED:
        kind = name[-len("Classifier") :] if name.endswith("Classifier") else "Regressor"
        raise ImportError(f"{name} does not exist: {REFUSED[name]}. Use otfairboost.distributed.DaskFairXGB{kind}")
    if name not in LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    require("xgboost", "xgboost")
    if name != "fit_shard":
        require("distributed", "dask")
        require("dask.dataframe", "dask")
    return getattr(import_module(f"otfairboost.distributed.{LAZY[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *LAZY})
