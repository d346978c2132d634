"""Law school admissions, LSAC."""

from __future__ import annotations

from collections.abc import Sequence

from otfairboost.datasets.frames import (
    Encoding,
    check_columns,
    drop_sensitive_columns,
    encode_categories,
    import_pandas,
)
from otfairboost.datasets.result import Dataset, DatasetInfo
from otfairboost.datasets.sources import DataFile, PathLike, fetch

FILE = DataFile(
    folder="law_school",
    name="law_data.csv",
    url="https://raw.githubusercontent.com/mkusner/counterfactual-fairness/master/law_data.csv",
)

TARGET = "ZFYA"
NUMERIC = ("LSAT", "UGPA")
CATEGORICAL = ("race", "sex", "region_first")
SEX = {1: "female", 2: "male"}

INFO = DatasetInfo(
    name="law_school",
    task="regression",
    description=(
        "Law school: 21,791 students of US law schools, from a survey of the Law School Admission Council, 1991 to "
        "1997. Target: standardised average grade of the first year (ZFYA). Sensitive attributes: race, sex."
    ),
    licence="Published for research by the Law School Admission Council, without a formal licence",
    citation=(
        "L. F. Wightman (1998). LSAC national longitudinal bar passage study. In this form: M. Kusner, J. Loftus, "
        "C. Russell and R. Silva (2017). Counterfactual fairness. NeurIPS"
    ),
    source="https://github.com/mkusner/counterfactual-fairness",
)


def load_law_school(
    *,
    data_home: PathLike | None = None,
    download: bool = True,
    encoding: Encoding = "one-hot",
    drop_sensitive: bool | Sequence[str] = False,
) -> Dataset:
    """Load the law school data.

    The features are what is known at admission: LSAT score, undergraduate grade (UGPA), region, race and sex.
    ``sander_index`` is a function of LSAT and UGPA, ``first_pf`` (bar passed at the first try) comes years later:
    both are left out.

    Parameters
    ----------
    data_home : path, optional
        Folder that holds ``law_school/law_data.csv`` (or gzipped), or into which it is downloaded; by default the
        one of the environment variable ``OTFAIRBOOST_DATA``, or the user's cache.
    download : bool, default=True
        Whether an absent file may be downloaded. Its checksum is not fixed: the one seen at the download is kept
        beside the file, and later reads are checked against it.
    encoding : {"one-hot", "category", "ordinal"}, default="one-hot"
        How the categorical columns come back.
    drop_sensitive : bool or list of str, default=False
        Leave all sensitive attributes, or the named ones of ``race`` and ``sex``, out of the features.

    Returns
    -------
    Dataset
    """
    pandas = import_pandas()
    path = fetch(FILE, data_home=data_home, download=download)
    rows = pandas.read_csv(path)
    check_columns(rows, (*NUMERIC, *CATEGORICAL, TARGET), path)
    rows["sex"] = rows["sex"].map(SEX)
    if rows["sex"].isna().any():
        raise ValueError(f"{path} holds other values of sex than 1 (female) and 2 (male)")
    features = drop_sensitive_columns(
        rows[[*NUMERIC, *CATEGORICAL]], drop_sensitive, {"race": ["race"], "sex": ["sex"]}
    )
    return Dataset(
        **INFO._asdict(),
        features=encode_categories(features, CATEGORICAL, encoding),
        target=rows[TARGET].astype("float64"),
        sensitive_features=rows[["race", "sex"]],
        preprocessing=f"sander_index and first_pf are no features; categorical columns: {encoding}.",
    )
