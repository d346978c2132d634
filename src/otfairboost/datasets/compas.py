"""COMPAS two-year recidivism, ProPublica."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from otfairboost.datasets.frames import (
    Encoding,
    check_columns,
    drop_sensitive_columns,
    encode_categories,
    import_pandas,
)
from otfairboost.datasets.result import Dataset, DatasetInfo
from otfairboost.datasets.sources import DataFile, PathLike, fetch

if TYPE_CHECKING:
    import pandas as pd

FILE = DataFile(
    folder="compas",
    name="compas-scores-two-years.csv",
    url="https://raw.githubusercontent.com/propublica/compas-analysis/master/compas-scores-two-years.csv",
    alternatives=("compas_two_years.csv",),
)

TARGET = "two_year_recid"
NUMERIC = ("age", "juv_fel_count", "juv_misd_count", "juv_other_count", "priors_count")
CATEGORICAL = ("sex", "race", "age_cat", "c_charge_degree")
FILTERED = "Rows of ProPublica's analysis only"

INFO = DatasetInfo(
    name="compas",
    task="classification",
    description=(
        "COMPAS: people screened by the COMPAS tool in Broward County, Florida, 2013 and 2014. Target: a new offence "
        "within two years. Sensitive attributes: sex, race, age group."
    ),
    licence="Published by ProPublica for reuse, without a formal licence",
    citation="J. Angwin, J. Larson, S. Mattu and L. Kirchner (2016). Machine bias. ProPublica",
    source="https://github.com/propublica/compas-analysis",
)


def load_compas(
    *,
    data_home: PathLike | None = None,
    download: bool = True,
    propublica_filter: bool = True,
    encoding: Encoding = "one-hot",
    drop_sensitive: bool | Sequence[str] = False,
) -> Dataset:
    """Load COMPAS two-year recidivism.

    The features are what is known at the screening: age, sex, race, earlier offences and the degree of the charge.
    The tool's own scores are left out, and so is ``is_recid``, which gives the target away.

    Parameters
    ----------
    data_home : path, optional
        Folder that holds ``compas/compas-scores-two-years.csv`` (or gzipped), or into which it is downloaded; by
        default the one of the environment variable ``OTFAIRBOOST_DATA``, or the user's cache. A reduced file of
        the same rows without names and dates, ``compas/compas_two_years.csv``, is read as well.
    download : bool, default=True
        Whether an absent file may be downloaded. Its checksum is not fixed: the one seen at the download is kept
        beside the file, and later reads are checked against it.
    propublica_filter : bool, default=True
        Keep the rows of ProPublica's analysis: screened within 30 days of the arrest, ``is_recid`` known, no
        ordinary traffic offence (charge degree O), with a score. Each condition whose column is in the file is
        applied.
    encoding : {"one-hot", "category", "ordinal"}, default="one-hot"
        How the categorical columns come back.
    drop_sensitive : bool or list of str, default=False
        Leave all sensitive attributes, or the named ones of ``sex``, ``race`` and ``age_cat``, out of the features
        (``age_cat`` with ``age``).

    Returns
    -------
    Dataset
    """
    pandas = import_pandas()
    path = fetch(FILE, data_home=data_home, download=download)
    rows = pandas.read_csv(path)
    check_columns(rows, (*NUMERIC, *CATEGORICAL, TARGET), path)
    if propublica_filter:
        rows = _filter(rows)
    features = drop_sensitive_columns(
        rows[[*NUMERIC, *CATEGORICAL]],
        drop_sensitive,
        {"sex": ["sex"], "race": ["race"], "age_cat": ["age_cat", "age"]},
    )
    return Dataset(
        **INFO._asdict(),
        features=encode_categories(features, CATEGORICAL, encoding),
        target=rows[TARGET].astype("int64"),
        sensitive_features=rows[["sex", "race", "age_cat"]],
        preprocessing=(
            f"{FILTERED if propublica_filter else 'All rows'}; scores and is_recid are no features; "
            f"categorical columns: {encoding}."
        ),
    )


def _filter(rows: pd.DataFrame) -> pd.DataFrame:
    """Keep the rows of ProPublica's analysis, by the columns that are there."""
    kept = rows["c_charge_degree"] != "O"
    if "days_b_screening_arrest" in rows:
        kept &= rows["days_b_screening_arrest"].between(-30, 30)
    if "is_recid" in rows:
        kept &= rows["is_recid"] != -1
    if "score_text" in rows:
        kept &= rows["score_text"].notna() & (rows["score_text"] != "N/A")
    return rows[kept].reset_index(drop=True)
