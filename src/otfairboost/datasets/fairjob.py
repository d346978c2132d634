"""FairJob: clicks on job advertisements, Criteo."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from otfairboost.datasets.frames import (
    check_choice,
    check_columns,
    drop_sensitive_columns,
    encode_categories,
    import_pandas,
)
from otfairboost.datasets.result import Dataset, DatasetInfo
from otfairboost.datasets.sources import DataFile, MissingDataError, PathLike, fetch

if TYPE_CHECKING:
    import pandas as pd

FairJobEncoding = Literal["category", "ordinal"]

FILE = DataFile(
    folder="fairjob",
    name="fairjob.csv.gz",
    url="https://huggingface.co/datasets/criteo/FairJob/resolve/main/fairjob.csv.gz",
    alternatives=("fairjob.csv",),
)

TARGET = "click"
IDENTIFIERS = ("user_id", "impression_id", "product_id")
CATEGORICAL = tuple(f"cat{i}" for i in range(13))
NUMERIC = tuple(f"num{i}" for i in range(16, 51))
FEATURES = ("protected_attribute", "senior", "displayrandom", "rank", *CATEGORICAL, *NUMERIC)
GENDER = {0: "female", 1: "male"}

INFO = DatasetInfo(
    name="fairjob",
    task="classification",
    description=(
        "FairJob: 1,072,226 products shown to 30,361 users in a campaign of job advertisements. Target: the product "
        "was clicked (0.7%). Sensitive attribute: protected_attribute, a proxy of gender computed from the products "
        "a user looked at."
    ),
    licence="CC BY-NC-SA 4.0: no commercial use",
    citation=(
        "M. Vladimirova, E. Diemert and F. Pavone (2024). FairJob: a real-world dataset for fairness in online "
        "systems. NeurIPS. arXiv:2407.03059"
    ),
    source="https://huggingface.co/datasets/criteo/FairJob",
)


def load_fairjob(
    *,
    data_home: PathLike | None = None,
    download: bool = True,
    encoding: FairJobEncoding = "category",
    drop_sensitive: bool | Sequence[str] = False,
) -> Dataset:
    """Load FairJob.

    The real data, for non-commercial use. If you cannot have them, `simulate_fairjob` generates data with their
    published statistics.

    Parameters
    ----------
    data_home : path, optional
        Folder that holds ``fairjob/fairjob.csv.gz`` (or unpacked), or into which it is downloaded (191 MB); by
        default the one of the environment variable ``OTFAIRBOOST_DATA``, or the user's cache.
    download : bool, default=True
        Whether an absent file may be downloaded. Its checksum is not fixed: the one seen at the download is kept
        beside the file, and later reads are checked against it.
    encoding : {"category", "ordinal"}, default="category"
        cat0 to cat12 as pandas categoricals, or as the code numbers. Some 20,000 codes: one-hot is not offered.
    drop_sensitive : bool or list of str, default=False
        Leave ``protected_attribute`` out of the features.

    Returns
    -------
    Dataset
        52 features; ``identifiers`` holds user, impression and product.
    """
    pandas = import_pandas()
    check_choice("encoding", encoding, ("category", "ordinal"))
    try:
        path = fetch(FILE, data_home=data_home, download=download)
    except MissingDataError as error:
        raise MissingDataError(f"{error} Or generate data like it with simulate_fairjob().") from error
    types = dict.fromkeys(NUMERIC, "float32") | dict.fromkeys((*CATEGORICAL, *IDENTIFIERS), "int32")
    frame = pandas.read_csv(path, dtype=types)
    check_columns(frame, (TARGET, *FEATURES, *IDENTIFIERS), path)
    return assemble_fairjob(frame, encoding=encoding, drop_sensitive=drop_sensitive, info=INFO)


def assemble_fairjob(
    frame: pd.DataFrame,
    *,
    encoding: FairJobEncoding,
    drop_sensitive: bool | Sequence[str],
    info: DatasetInfo,
    simulated: bool = False,
) -> Dataset:
    """Turn the 56 columns into a data set."""
    pandas = import_pandas()
    kept = drop_sensitive_columns(
        frame[list(FEATURES)], drop_sensitive, {"protected_attribute": ["protected_attribute"]}
    )
    return Dataset(
        **info._asdict(),
        features=encode_categories(kept, CATEGORICAL, encoding),
        target=frame[TARGET].astype("int64"),
        sensitive_features=pandas.DataFrame({"protected_attribute": frame["protected_attribute"].map(GENDER)}),
        identifiers=frame[list(IDENTIFIERS)],
        preprocessing=f"Identifiers are no features; cat0 to cat12: {encoding}; numeric columns as float32.",
        simulated=simulated,
    )
