"""Communities and Crime, UCI."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from otfairboost.datasets.frames import check_choice, drop_sensitive_columns, import_pandas
from otfairboost.datasets.result import Dataset, DatasetInfo
from otfairboost.datasets.sources import DataFile, PathLike, fetch

FILE = DataFile(
    folder="communities_crime",
    name="communities.data",
    url="https://archive.ics.uci.edu/ml/machine-learning-databases/communities/communities.data",
    sha256="09e0b5c07eae24c1efab19b2edee05e160e7f5743b6f31e31eec3d73624da2ea",
)

TARGET = "ViolentCrimesPerPop"
NOT_PREDICTIVE = ("state", "county", "community", "communityname", "fold")
_PREDICTIVE = (
    "population householdsize racepctblack racePctWhite racePctAsian racePctHisp agePct12t21 agePct12t29 "
    "agePct16t24 agePct65up numbUrban pctUrban medIncome pctWWage pctWFarmSelf pctWInvInc pctWSocSec pctWPubAsst "
    "pctWRetire medFamInc perCapInc whitePerCap blackPerCap indianPerCap AsianPerCap OtherPerCap HispPerCap "
    "NumUnderPov PctPopUnderPov PctLess9thGrade PctNotHSGrad PctBSorMore PctUnemployed PctEmploy PctEmplManu "
    "PctEmplProfServ PctOccupManu PctOccupMgmtProf MalePctDivorce MalePctNevMarr FemalePctDiv TotalPctDiv "
    "PersPerFam PctFam2Par PctKids2Par PctYoungKids2Par PctTeen2Par PctWorkMomYoungKids PctWorkMom NumIlleg "
    "PctIlleg NumImmig PctImmigRecent PctImmigRec5 PctImmigRec8 PctImmigRec10 PctRecentImmig PctRecImmig5 "
    "PctRecImmig8 PctRecImmig10 PctSpeakEnglOnly PctNotSpeakEnglWell PctLargHouseFam PctLargHouseOccup "
    "PersPerOccupHous PersPerOwnOccHous PersPerRentOccHous PctPersOwnOccup PctPersDenseHous PctHousLess3BR MedNumBR "
    "HousVacant PctHousOccup PctHousOwnOcc PctVacantBoarded PctVacMore6Mos MedYrHousBuilt PctHousNoPhone "
    "PctWOFullPlumb OwnOccLowQuart OwnOccMedVal OwnOccHiQuart RentLowQ RentMedian RentHighQ MedRent "
    "MedRentPctHousInc MedOwnCostPctInc MedOwnCostPctIncNoMtg NumInShelters NumStreet PctForeignBorn "
    "PctBornSameState PctSameHouse85 PctSameCity85 PctSameState85 LemasSwornFT LemasSwFTPerPop LemasSwFTFieldOps "
    "LemasSwFTFieldPerPop LemasTotalReq LemasTotReqPerPop PolicReqPerOffic PolicPerPop RacialMatchCommPol "
    "PctPolicWhite PctPolicBlack PctPolicHisp PctPolicAsian PctPolicMinor OfficAssgnDrugUnits NumKindsDrugsSeiz "
    "PolicAveOTWorked LandArea PopDens PctUsePubTrans PolicCars PolicOperBudg LemasPctPolicOnPatr "
    "LemasGangUnitDeploy LemasPctOfficDrugUn PolicBudgPerPop"
)
COLUMNS = (*NOT_PREDICTIVE, *_PREDICTIVE.split(), TARGET)

INFO = DatasetInfo(
    name="communities_crime",
    task="regression",
    description=(
        "Communities and Crime: 1,994 US communities, features of the 1990 census and of police surveys, each "
        "normalised to 0..1. Target: violent crimes per head of population. Sensitive attribute: share of Black "
        "residents, in two groups."
    ),
    licence="CC BY 4.0",
    citation=(
        "M. Redmond and A. Baveja (2002). A data-driven software tool for enabling cooperative information sharing "
        "among police departments. European Journal of Operational Research 141. doi:10.24432/C53W3X"
    ),
    source="https://archive.ics.uci.edu/dataset/183/communities+and+crime",
)


def load_communities_crime(
    *,
    data_home: PathLike | None = None,
    download: bool = True,
    threshold: float = 0.23,
    missing: Literal["drop", "keep"] = "drop",
    drop_sensitive: bool | Sequence[str] = False,
) -> Dataset:
    """Load Communities and Crime.

    The five columns that are not meant for prediction (state, county, community, its name, fold) are dropped. 22
    columns of a police survey miss 1,675 of 1,994 values, and ``OtherPerCap`` one.

    Parameters
    ----------
    data_home : path, optional
        Folder that holds ``communities_crime/communities.data`` (or gzipped), or into which it is downloaded; by
        default the one of the environment variable ``OTFAIRBOOST_DATA``, or the user's cache.
    download : bool, default=True
        Whether an absent file may be downloaded. It has a fixed checksum.
    threshold : float, default=0.23
        Communities with ``racepctblack`` (normalised to 0..1) of at least this are the group ``"high"`` of the
        sensitive attribute ``black_share``, the others ``"low"``.
    missing : {"drop", "keep"}, default="drop"
        ``"drop"`` leaves out the columns with missing values: 99 features. ``"keep"`` returns all 122, with NaN.
    drop_sensitive : bool or list of str, default=False
        Leave ``racepctblack``, the column behind ``black_share``, out of the features.

    Returns
    -------
    Dataset
    """
    pandas = import_pandas()
    check_choice("missing", missing, ("drop", "keep"))
    if not 0 < threshold < 1:
        raise ValueError(f"threshold={threshold!r} must be between 0 and 1")
    path = fetch(FILE, data_home=data_home, download=download)
    rows = pandas.read_csv(path, header=None, na_values="?")
    if rows.shape[1] != len(COLUMNS):
        raise ValueError(f"{path} has {rows.shape[1]} columns; Communities and Crime has {len(COLUMNS)}")
    rows.columns = list(COLUMNS)
    high = rows["racepctblack"] >= threshold
    features = rows.drop(columns=[*NOT_PREDICTIVE, TARGET])
    if missing == "drop":
        features = features.dropna(axis="columns")
    features = drop_sensitive_columns(features, drop_sensitive, {"black_share": ["racepctblack"]})
    return Dataset(
        **INFO._asdict(),
        features=features.astype("float64"),
        target=rows[TARGET].astype("float64"),
        sensitive_features=pandas.DataFrame({"black_share": high.map({True: "high", False: "low"})}),
        preprocessing=(
            "The five columns not meant for prediction dropped; columns with missing values "
            f"{'dropped' if missing == 'drop' else 'kept, as NaN'}; group 'high': racepctblack >= {threshold}."
        ),
    )
