"""Adult (Census income), UCI."""

from __future__ import annotations

from collections.abc import Sequence

from otfairboost.datasets.frames import Encoding, drop_sensitive_columns, encode_categories, import_pandas
from otfairboost.datasets.result import Dataset, DatasetInfo
from otfairboost.datasets.sources import DataFile, PathLike, fetch

TRAIN = DataFile(
    folder="adult",
    name="adult.data",
    url="https://archive.ics.uci.edu/ml/machine-learning-databases/adult/adult.data",
    sha256="5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d",
)
TEST = DataFile(
    folder="adult",
    name="adult.test",
    url="https://archive.ics.uci.edu/ml/machine-learning-databases/adult/adult.test",
    sha256="a2a9044bc167a35b2361efbabec64e89d69ce82d9790d2980119aac5fd7e9c05",
)

NUMERIC = ("age", "education-num", "capital-gain", "capital-loss", "hours-per-week")
CATEGORICAL = (
    "workclass",
    "education",
    "marital-status",
    "occupation",
    "relationship",
    "race",
    "sex",
    "native-country",
)
COLUMNS = (
    "age",
    "workclass",
    "fnlwgt",
    "education",
    "education-num",
    "marital-status",
    "occupation",
    "relationship",
    "race",
    "sex",
    "capital-gain",
    "capital-loss",
    "hours-per-week",
    "native-country",
    "income",
)

INFO = DatasetInfo(
    name="adult",
    task="classification",
    description=(
        "Adult: 48,842 people of the 1994 US Current Population Survey. Target: yearly income above 50,000 dollars. "
        "Sensitive attributes: sex, race."
    ),
    licence="CC BY 4.0",
    citation="B. Becker and R. Kohavi (1996). Adult. UCI Machine Learning Repository. doi:10.24432/C5XW20",
    source="https://archive.ics.uci.edu/dataset/2/adult",
)


def load_adult(
    *,
    data_home: PathLike | None = None,
    download: bool = True,
    encoding: Encoding = "one-hot",
    drop_sensitive: bool | Sequence[str] = False,
) -> Dataset:
    """Load Adult, the training and the test file one after the other.

    ``?`` is read as missing. ``fnlwgt`` says how many people a row stands for in the survey; it is no property of
    the person and comes back as ``sample_weight``, not as a feature.

    Parameters
    ----------
    data_home : path, optional
        Folder that holds ``adult/adult.data`` and ``adult/adult.test`` (or gzipped), or into which they are
        downloaded; by default the one of the environment variable ``OTFAIRBOOST_DATA``, or the user's cache.
    download : bool, default=True
        Whether absent files may be downloaded. Both have a fixed checksum.
    encoding : {"one-hot", "category", "ordinal"}, default="one-hot"
        How the categorical columns come back.
    drop_sensitive : bool or list of str, default=False
        Leave all sensitive attributes, or the named ones of ``sex`` and ``race``, out of the features.

    Returns
    -------
    Dataset
    """
    pandas = import_pandas()
    frames = []
    for file, skipped in ((TRAIN, 0), (TEST, 1)):  # the test file opens with a line of comment
        path = fetch(file, data_home=data_home, download=download)
        frame = pandas.read_csv(
            path, names=COLUMNS, header=None, skiprows=skipped, skipinitialspace=True, na_values="?"
        )
        frames.append(frame)
    rows = pandas.concat(frames, ignore_index=True)
    label = rows["income"].str.rstrip(".")
    unknown = sorted(set(label.dropna()) - {"<=50K", ">50K"}) or (["missing"] if label.isna().any() else [])
    if unknown:
        raise ValueError(f"{path} holds the labels {', '.join(unknown)}; allowed are '<=50K' and '>50K'")
    features = drop_sensitive_columns(
        rows[[*NUMERIC, *CATEGORICAL]], drop_sensitive, {"sex": ["sex"], "race": ["race"]}
    )
    return Dataset(
        **INFO._asdict(),
        features=encode_categories(features, CATEGORICAL, encoding),
        target=(label == ">50K").astype("int64").rename("income"),
        sensitive_features=rows[["sex", "race"]],
        sample_weight=rows["fnlwgt"],
        preprocessing=(
            "Training and test file concatenated; '?' is missing; fnlwgt is the sample weight, not a feature; "
            f"categorical columns: {encoding}."
        ),
    )
