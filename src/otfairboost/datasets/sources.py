"""Files of public data: found in a folder, or downloaded into it, and checked."""

import gzip
import hashlib
import http.client
import itertools
import logging
import os
import sys
import urllib.error
import urllib.request
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from otfairboost.files import replacing

PathLike = str | os.PathLike[str]

DATA_VARIABLE = "OTFAIRBOOST_DATA"
"""Environment variable that names the data folder."""

TIMEOUT_SECONDS = 60
CHUNK_BYTES = 1 << 20

_logger = logging.getLogger(__name__)


class MissingDataError(FileNotFoundError):
    """A data file is neither in the folder nor to be downloaded; the message says what to put where."""


class ChecksumError(OSError):
    """A data file is not the one it should be."""


class DataFile(NamedTuple):
    """One public file.

    Attributes
    ----------
    folder : str
        Folder below the data folder.
    name : str
        Name of the file there, as downloaded; a gzipped copy ``name + ".gz"`` is read as well.
    url : str
        Public address.
    sha256 : str or None
        Checksum of the unpacked content, if it is known to be fixed. If not, the checksum seen at the download
        is kept beside the file, in ``name + ".sha256"``, and later reads are checked against it.
    alternatives : tuple of str
        Other names under which a local folder may hold the same data in another form.
    """

    folder: str
    name: str
    url: str
    sha256: str | None = None
    alternatives: tuple[str, ...] = ()


def data_folder(data_home: PathLike | None = None) -> Path:
    """Return the folder data are read from and downloaded to.

    Parameters
    ----------
    data_home : path, optional
        The folder itself. Without it, the one that the environment variable ``OTFAIRBOOST_DATA`` names, or else
        ``otfairboost`` in the user's cache folder.
    """
    if data_home is not None:
        return Path(data_home).expanduser()
    named = os.environ.get(DATA_VARIABLE)
    return Path(named).expanduser() if named else _user_cache() / "otfairboost"


def _user_cache() -> Path:
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")


def fetch(file: DataFile, *, data_home: PathLike | None = None, download: bool = True) -> Path:
    """Return the path of a data file, downloading it if the data folder lacks it.

    Parameters
    ----------
    file : DataFile
    data_home : path, optional
        See `data_folder`.
    download : bool
        Whether the file may be downloaded.

    Returns
    -------
    pathlib.Path

    Raises
    ------
    MissingDataError
        The file is not there and cannot or may not be downloaded.
    ChecksumError
        The file is there, or was downloaded, and differs from what it should be.
    """
    folder = data_folder(data_home) / file.folder
    path = find(file, folder)
    if path is None:
        if not download:
            raise MissingDataError(_missing(file, folder, "and download=False"))
        return _download(file, folder)
    _verify(path, file)
    return path


def find(file: DataFile, folder: Path) -> Path | None:
    """Return the path under which a folder holds the file, if it does."""
    names = [form for name in (file.name, *file.alternatives) for form in (name, f"{name}.gz")]
    return next((folder / name for name in names if (folder / name).is_file()), None)


def _missing(file: DataFile, folder: Path, reason: str) -> str:
    packed = "" if file.name.endswith((".gz", ".zip")) else f" (or gzipped as {file.name}.gz)"
    return (
        f"{file.name} is not in {folder} {reason}. Get {file.url} and put it there as {file.name}{packed}, or let "
        f"data_home= or the environment variable {DATA_VARIABLE} name a folder that holds {file.folder}/{file.name}."
    )


def _verify(path: Path, file: DataFile) -> None:
    record = path.with_name(f"{path.name}.sha256")
    if file.sha256 is not None and path.name in (file.name, f"{file.name}.gz"):
        seen, expected = _checksum(path, unpack=path.suffix == ".gz" and path.name != file.name), file.sha256
    elif record.is_file():
        seen, expected = _checksum(path, unpack=False), record.read_text("ascii").strip()
    else:
        return
    if seen != expected:
        raise ChecksumError(
            f"{path} has changed: its SHA-256 is {seen}, expected is {expected}. Delete it to download it again, "
            f"or get it from {file.url}."
        )


def _checksum(path: Path, *, unpack: bool) -> str:
    digest = hashlib.sha256()
    try:
        with gzip.open(path, "rb") if unpack else path.open("rb") as content:
            while chunk := content.read(CHUNK_BYTES):
                digest.update(chunk)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise ChecksumError(f"{path} is not a whole gzip file: {error}") from error
    return digest.hexdigest()


def _download(file: DataFile, folder: Path) -> Path:
    """Stream a file to a temporary name in the same folder and rename it once it is whole and checked."""
    path = folder / file.name
    _logger.info("downloading %s to %s", file.url, path)
    digest = hashlib.sha256()
    chunks = _stream(file, folder)
    first = next(chunks, b"")  # nothing is made on the disk before something has arrived
    with replacing(path) as temporary:
        with temporary.open("wb") as output:
            for chunk in itertools.chain([first], chunks):
                digest.update(chunk)
                output.write(chunk)
        seen = digest.hexdigest()
        if file.sha256 is None:
            with replacing(path.with_name(f"{path.name}.sha256")) as record:
                record.write_text(f"{seen}\n", "ascii")
        elif seen != file.sha256:
            raise ChecksumError(f"{file.url} has changed: its SHA-256 is {seen}, expected is {file.sha256}")
    return path


def _stream(file: DataFile, folder: Path) -> Iterator[bytes]:
    """Yield the content at a file's address; any failure of the network says where to put the file by hand."""
    request = urllib.request.Request(file.url, headers={"User-Agent": "otfairboost"})
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS) as response:
            announced = response.headers.get("Content-Length")
            received = 0
            while chunk := response.read(CHUNK_BYTES):
                received += len(chunk)
                yield chunk
            if announced is not None and received != int(announced):
                raise ConnectionError(f"{received} of {announced} bytes arrived")
    except (OSError, http.client.HTTPException) as error:
        if isinstance(error, urllib.error.HTTPError):
            error.close()
        raise MissingDataError(_missing(file, folder, f"and cannot be downloaded ({error})")) from error
