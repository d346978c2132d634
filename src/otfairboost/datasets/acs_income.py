"""ACSIncome: US Census microdata of any state and year, as defined by Folktables."""

from __future__ import annotations

import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

from otfairboost.datasets.frames import (
    Encoding,
    check_choice,
    check_columns,
    drop_sensitive_columns,
    encode_categories,
    import_pandas,
)
from otfairboost.datasets.result import Dataset, DatasetInfo
from otfairboost.datasets.sources import DataFile, MissingDataError, PathLike, data_folder, fetch, find
from otfairboost.extras import require

if TYPE_CHECKING:
    import pandas as pd

Ethnicity = Literal["pooled", "separate", "original"]
Source = Literal["census", "folktables"]

YEARS = (2014, 2015, 2016, 2017, 2018, 2019, 2021, 2022, 2023)
"""Years of the one-year survey that have the columns; of 2020 there is none."""

_STATE_CODES = (
    "AL=01 AK=02 AZ=04 AR=05 CA=06 CO=08 CT=09 DE=10 FL=12 GA=13 HI=15 ID=16 IL=17 IN=18 IA=19 KS=20 KY=21 LA=22 ME=23 "
    "MD=24 MA=25 MI=26 MN=27 MS=28 MO=29 MT=30 NE=31 NV=32 NH=33 NJ=34 NM=35 NY=36 NC=37 ND=38 OH=39 OK=40 OR=41 PA=42 "
    "RI=44 SC=45 SD=46 TN=47 TX=48 UT=49 VT=50 VA=51 WA=53 WV=54 WI=55 WY=56 PR=72"
)
STATES = dict(entry.split("=") for entry in _STATE_CODES.split())
"""Postal code to the code of the state in the Census' file names."""

TARGET = "PINCP"
INCOME_LIMIT = 50_000
FILTERED = ("AGEP", "WKHP", "PINCP", "PWGTP")
SEX = {1: "male", 2: "female"}
RACE = {1: "white", 2: "black", 3: "native", 4: "native", 5: "native", 6: "asian", 7: "other", 8: "other", 9: "other"}
COARSE_RACE = {1: "white", 2: "black", 3: "asian", 4: "native", 5: "other"}

INFO = DatasetInfo(
    name="acs_income",
    task="classification",
    description=(
        "ACSIncome: people older than 16 who worked, from the American Community Survey. Target: yearly income above "
        "50,000 dollars. Sensitive attributes: SEX, RAC1P."
    ),
    licence="Public domain (US Census Bureau, terms of the ACS PUMS); task definition: Folktables, MIT licence",
    citation=(
        "F. Ding, M. Hardt, J. Miller and L. Schmidt (2021). Retiring Adult: new datasets for fair machine learning. "
        "NeurIPS"
    ),
    source="https://www.census.gov/programs-surveys/acs/microdata.html",
)


class Persons(NamedTuple):
    """Filtered rows of one state: features, target and survey weight, and whether codes were merged in the file."""

    features: pd.DataFrame
    target: pd.Series
    weight: pd.Series | None
    coarse: bool


def load_acs_income(
    *,
    states: str | Sequence[str] = ("TN",),
    year: int = 2018,
    data_home: PathLike | None = None,
    download: bool = True,
    source: Source = "census",
    encoding: Encoding = "one-hot",
    ethnicity: Ethnicity = "pooled",
    drop_sensitive: bool | Sequence[str] = False,
) -> Dataset:
    """Load ACSIncome for one or several states.

    Rows: older than 16, income above 100 dollars, at least one hour of work a week, survey weight of at least 1.
    Features: AGEP, COW, SCHL, MAR, OCCP, POBP, RELP (from 2019 on RELSHIPP, its successor), WKHP, SEX, RAC1P; a
    missing code is 0. Target: PINCP above 50,000. The survey weight PWGTP comes back as ``sample_weight``.

    Parameters
    ----------
    states : str or sequence of str, default=("TN",)
        Postal codes.
    year : int, default=2018
        Year of the one-year survey: 2014 to 2019 or 2021 to 2023.
    data_home : path, optional
        Folder of the data; by default the one of the environment variable ``OTFAIRBOOST_DATA``, or the user's
        cache. Looked for in it, in this order: a prepared table
        ``acsincome_tn/acsincome_tn_2018.csv`` (or gzipped) of the ten features and a PINCP of 0 and 1; the person
        file of the Census, ``acs_pums/2018/1-Year/csv_ptn.zip``, or unpacked as the Folktables package leaves it
        there or in ``2018/1-Year``.
    download : bool, default=True
        Whether an absent person file may be downloaded. The Census revises its files: the checksum seen at the
        download is kept beside the file, and later reads are checked against it.
    source : {"census", "folktables"}, default="census"
        Read and download the Census' files directly, or leave both to the Folktables package.
    encoding : {"one-hot", "category", "ordinal"}, default="one-hot"
        How the eight categorical features come back. One-hot is what the paper does; ordinal leaves the codes.
    ethnicity : {"pooled", "separate", "original"}, default="pooled"
        Groups of the sensitive attribute RAC1P: white, black, asian and other, with the natives among the others;
        or with the natives apart; or the codes of the file. In Tennessee the natives are 69 rows, 14 in a test
        fold, and a selection rate of 14 rows is noise.
    drop_sensitive : bool or list of str, default=False
        Leave all sensitive attributes, or the named ones of SEX and RAC1P, out of the features. The paper keeps
        them.

    Returns
    -------
    Dataset
        ``identifiers`` holds the state of each row.

    Notes
    -----
    A prepared table may have merged codes: MAR 1 (married) and 2 (not), RAC1P 1 white, 2 black, 3 Asian, 4 native,
    5 other. It is taken for such a one if it has no other codes; without the survey weight, ``sample_weight`` is
    None.
    """
    pandas = import_pandas()
    chosen = _check_states(states)
    check_choice("year", year, YEARS)
    check_choice("source", source, ("census", "folktables"))
    check_choice("ethnicity", ethnicity, ("pooled", "separate", "original"))
    parts = {state: _load_state(state, year, source, data_home, download) for state in chosen}
    coarse = {state for state, part in parts.items() if part.coarse}
    if coarse and len(coarse) < len(parts):
        raise ValueError(
            f"states={chosen!r}: the files of {', '.join(sorted(coarse))} have merged codes and the others have not; "
            "load them one by one"
        )
    features = pandas.concat([part.features for part in parts.values()], ignore_index=True)
    weights = [part.weight for part in parts.values()]
    sensitive = pandas.DataFrame(
        {"SEX": features["SEX"].map(SEX), "RAC1P": _ethnicity(features["RAC1P"], ethnicity, bool(coarse))}
    )
    kept = drop_sensitive_columns(features, drop_sensitive, {"SEX": ["SEX"], "RAC1P": ["RAC1P"]})
    categorical = [name for name in features.columns if name not in ("AGEP", "WKHP")]
    return Dataset(
        **INFO._asdict(),
        features=encode_categories(kept, categorical, encoding),
        target=pandas.concat([part.target for part in parts.values()], ignore_index=True),
        sensitive_features=sensitive,
        sample_weight=None if any(w is None for w in weights) else pandas.concat(weights, ignore_index=True),
        identifiers=pandas.DataFrame({"state": [state for state, part in parts.items() for _ in part.target.index]}),
        preprocessing=(
            f"{', '.join(chosen)}, {year}, one-year survey; AGEP > 16, PINCP > 100, WKHP > 0, PWGTP >= 1; target "
            f"PINCP > 50000; {'merged codes of MAR and RAC1P; ' if coarse else ''}categorical columns: {encoding}; "
            f"ethnicity {ethnicity}."
        ),
    )


def _check_states(states: str | Sequence[str]) -> tuple[str, ...]:
    chosen = (states,) if isinstance(states, str) else tuple(states)
    if not chosen:
        raise ValueError("states is empty; it needs at least one postal code such as 'TN'")
    for state in chosen:
        check_choice("states", state, STATES)
    if len(set(chosen)) < len(chosen):
        raise ValueError(f"states={chosen!r} names a state twice")
    return chosen


def _feature_names(year: int) -> list[str]:
    relation = "RELP" if year < 2019 else "RELSHIPP"
    return ["AGEP", "COW", "SCHL", "MAR", "OCCP", "POBP", relation, "WKHP", "SEX", "RAC1P"]


def _load_state(state: str, year: int, source: Source, data_home: PathLike | None, download: bool) -> Persons:
    home = data_folder(data_home)
    if source == "folktables":
        return _filter(_read_folktables(state, year, home, download), year, f"the data of {state} from folktables")
    name = f"acsincome_{state.lower()}"
    prepared = find(DataFile(name, f"{name}_{year}.csv", url=""), home / name)
    if prepared is not None:
        return _read_prepared(prepared, year)
    path = _fetch_census(state, year, home, download)
    return _filter(_read_census(path, year), year, path)


def _read_prepared(path: Path, year: int) -> Persons:
    rows = import_pandas().read_csv(path)
    names = _feature_names(year)
    check_columns(rows, (*names, TARGET), path)
    if not rows[TARGET].isin((0, 1)).all():
        raise ValueError(f"{path} is a prepared table, but its {TARGET} holds other values than 0 and 1")
    coarse = bool(rows["MAR"].max() <= 2 and rows["RAC1P"].max() <= max(COARSE_RACE))
    return Persons(rows[names].fillna(0).astype("int64"), rows[TARGET].astype("int64"), rows.get("PWGTP"), coarse)


def _fetch_census(state: str, year: int, home: Path, download: bool) -> Path:
    """Return the person file of a state: the Census' archive, or unpacked by the Folktables package."""
    unpacked = f"psam_p{STATES[state]}.csv" if year >= 2017 else f"ss{year % 100}p{state.lower()}.csv"
    archive = f"csv_p{state.lower()}.zip"
    file = DataFile(
        folder=f"acs_pums/{year}/1-Year",
        name=archive,
        url=f"https://www2.census.gov/programs-surveys/acs/data/pums/{year}/1-Year/{archive}",
        alternatives=(unpacked,),
    )
    elsewhere = find(file, home / f"{year}" / "1-Year")
    return elsewhere or fetch(file, data_home=home, download=download)


def _read_census(path: Path, year: int) -> pd.DataFrame:
    pandas = import_pandas()
    wanted = {*_feature_names(year), *FILTERED}
    if path.suffix != ".zip":
        return pandas.read_csv(path, usecols=lambda name: name in wanted)
    try:
        with zipfile.ZipFile(path) as archive:
            members = [name for name in archive.namelist() if name.lower().endswith(".csv")]
            if len(members) != 1:
                raise ValueError(f"{path} holds {len(members)} csv files; a person file of the Census holds one")
            with archive.open(members[0]) as content:
                return pandas.read_csv(content, usecols=lambda name: name in wanted)
    except zipfile.BadZipFile as error:
        raise ValueError(f"{path} is no zip file: {error}") from error


def _read_folktables(state: str, year: int, home: Path, download: bool) -> pd.DataFrame:
    folktables = require("folktables", "folktables")
    folder = home / "acs_pums"
    survey = folktables.ACSDataSource(survey_year=str(year), horizon="1-Year", survey="person", root_dir=str(folder))
    try:
        return survey.get_data(states=[state], download=download)
    except FileNotFoundError as error:
        raise MissingDataError(f"folktables has no data of {state}, {year} in {folder}: {error}") from error


def _filter(rows: pd.DataFrame, year: int, path: object) -> Persons:
    """Apply the filter and the target of ACSIncome to a person file."""
    names = _feature_names(year)
    check_columns(rows, (*names, *FILTERED), path)
    kept = (rows["AGEP"] > 16) & (rows["PINCP"] > 100) & (rows["WKHP"] > 0) & (rows["PWGTP"] >= 1)
    rows = rows[kept]
    target = (rows[TARGET] > INCOME_LIMIT).astype("int64")
    return Persons(rows[names].fillna(0).astype("int64"), target, rows["PWGTP"], coarse=False)


def _ethnicity(codes: pd.Series, ethnicity: Ethnicity, coarse: bool) -> pd.Series:
    if ethnicity == "original":
        return codes
    groups = codes.map(COARSE_RACE if coarse else RACE)
    return groups.replace("native", "other") if ethnicity == "pooled" else groups
