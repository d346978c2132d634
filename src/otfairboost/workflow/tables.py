"""Tables in files: CSV and Parquet, read with everything that can be wrong with a file said in one line."""

from __future__ import annotations

import csv
import gzip
import hashlib
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from otfairboost.extras import require
from otfairboost.files import replacing

if TYPE_CHECKING:
    import pandas as pd

PathLike = str | os.PathLike[str]
_SEPARATORS = {".csv": ",", ".tsv": "\t"}
_FORMATS = ".csv, .tsv (also .gz) or .parquet"


class Table(NamedTuple):
    """A table read from a file.

    Attributes
    ----------
    frame : pandas.DataFrame
    path : Path
    sha256 : str
        Of the file, so that one can tell later which data were used.
    """

    frame: pd.DataFrame
    path: Path
    sha256: str

    def column(self, name: str, option: str) -> pd.Series:
        """Return a column, or raise with the columns there are."""
        check_columns(self, [name], option)
        return self.frame[name]

    def columns(self, names: Sequence[str], option: str) -> pd.DataFrame:
        """Return several columns, or raise with the columns there are."""
        check_columns(self, names, option)
        return self.frame[list(names)]


def read_table(path: PathLike, *, text: Iterable[str] = ()) -> Table:
    """Read a table.

    Parameters
    ----------
    path : path
        A CSV file with a header, or a Parquet file.
    text : iterable of str
        Columns of a CSV file to read as text whatever they look like.
    """
    pandas = require("pandas", "cli")
    file = Path(path)
    content_hash = _check_file(file)
    if _is_parquet(file):
        require("pyarrow", "cli")
        frame = _read_parquet(pandas, file)
    else:
        frame = _read_csv(pandas, file, list(text))
    if frame.shape[0] == 0:
        raise ValueError(f"{file} has no rows below its header; give a file with data")
    return Table(frame, file, content_hash)


def write_table(frame: pd.DataFrame, path: PathLike) -> None:
    """Write a table as CSV or Parquet, by the ending of the name; an existing file is replaced as a whole."""
    check_output_format(path)
    with replacing(path) as temporary:
        if str(path).endswith(".parquet"):
            require("pyarrow", "cli")
            frame.to_parquet(temporary, index=False)
        else:
            stem = str(path).removesuffix(".gz")
            frame.to_csv(temporary, index=False, sep=_SEPARATORS[Path(stem).suffix.lower()])


def check_output_format(path: PathLike) -> None:
    """Raise for a name that does not say in which format to write."""
    if not str(path).endswith(".parquet") and Path(str(path).removesuffix(".gz")).suffix.lower() not in _SEPARATORS:
        raise ValueError(f"{path} does not end in {_FORMATS}; give a name that does")


def check_columns(table: Table, names: Sequence[str], option: str) -> None:
    """Raise unless the table has these columns."""
    absent = [name for name in names if name not in table.frame.columns]
    if absent:
        known = list(map(str, table.frame.columns))
        listed = ", ".join(known[:20]) + (", ..." if len(known) > 20 else "")
        raise ValueError(f"{option} names {', '.join(absent)}, which {table.path} lacks; it has {listed}")


def _check_file(file: Path) -> str:
    if file.is_dir():
        raise ValueError(f"{file} is a folder; give a {_FORMATS} file")
    if not file.exists():
        raise ValueError(f"{file} does not exist; check the name")
    digest = hashlib.sha256()
    with file.open("rb") as content:
        while chunk := content.read(1 << 20):
            digest.update(chunk)
    if file.stat().st_size == 0:
        raise ValueError(f"{file} is empty; give a file with a header and rows")
    return digest.hexdigest()


def _is_parquet(file: Path) -> bool:
    with file.open("rb") as content:
        return content.read(4) == b"PAR1" or file.suffix.lower() == ".parquet"


def _read_parquet(pandas: Any, file: Path) -> pd.DataFrame:
    try:
        frame = pandas.read_parquet(file)
    except (OSError, ValueError) as error:
        reason = str(error).splitlines()[0]
        raise ValueError(f"{file} is not a whole Parquet file ({reason}); write it again") from None
    frame.columns = [str(name) for name in frame.columns]
    _refuse_duplicates(file, list(frame.columns))
    return frame.reset_index(drop=True)


def _read_csv(pandas: Any, file: Path, text: list[str]) -> pd.DataFrame:
    packed = file.suffix.lower() == ".gz"
    separator = _SEPARATORS.get(Path(file.stem).suffix.lower() if packed else file.suffix.lower(), ",")
    try:
        with gzip.open(file, "rb") if packed else file.open("rb") as content:
            if b"\0" in content.read(1 << 16):
                raise ValueError(f"{file} is a binary file, not text; give a {_FORMATS} file")
        with (
            gzip.open(file, "rt", encoding="utf-8-sig", newline="")
            if packed
            else file.open("r", encoding="utf-8-sig", newline="") as content
        ):
            header = next(csv.reader(content, delimiter=separator), [])
        _refuse_duplicates(file, header)
        if not any(name.strip() for name in header):
            raise ValueError(f"{file} has no header; its first line must name the columns")
        kinds = {name: str for name in text if name in header}
        return pandas.read_csv(
            file, sep=separator, dtype=kinds, low_memory=False, encoding="utf-8-sig", index_col=False
        )
    except UnicodeDecodeError as error:
        raise ValueError(
            f"{file} is not UTF-8 text (byte {error.start}); if it is text, convert it: iconv -t UTF-8"
        ) from None
    except (pandas.errors.ParserError, pandas.errors.EmptyDataError, csv.Error, EOFError, gzip.BadGzipFile) as error:
        raise ValueError(f"{file} cannot be read as a table: {' '.join(str(error).split())}") from None


def _refuse_duplicates(file: Path, names: list[str]) -> None:
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        shown = ", ".join(repr(name[:40]) for name in twice[:3]) + (", ..." if len(twice) > 3 else "")
        raise ValueError(f"{file} has more than one column {shown}; rename or drop one")
