"""Finished fits in a file, so that a frontier that was interrupted goes on where it stopped."""

import sqlite3
import threading
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import NDArray

FORMAT = "otfairboost frontier 1"


class FitStorage:
    """Held-out scores by weight and fold, in an SQLite file; each is written at once and in full, or not at all.

    Parameters
    ----------
    path : str or path
        The file; made if it does not exist.
    identity : mapping of str to str
        What the scores depend on, by kind. A file made with another identity is refused.
    """

    def __init__(self, path: Any, identity: Mapping[str, str]) -> None:
        self._path = Path(path)
        self._lock = threading.Lock()
        if self._path.is_dir():
            raise ValueError(f"storage={str(path)!r} is a folder; it must be a file")
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._connection = sqlite3.connect(self._path, check_same_thread=False)
        try:
            self._open(identity)
        except BaseException:
            self._connection.close()
            raise

    def load(self, weight: float, fold: int) -> NDArray[np.float64] | None:
        """Return the scores of a finished fit, or None."""
        with self._lock:
            row = self._connection.execute(
                "SELECT scores FROM fits WHERE weight = ? AND fold = ?", (weight, fold)
            ).fetchone()
        return None if row is None else np.frombuffer(row[0], dtype="<f8").astype(np.float64)

    def save(self, weight: float, fold: int, scores: NDArray[np.float64]) -> None:
        """Keep the scores of a finished fit."""
        with self._lock, self._connection:
            self._connection.execute(
                "INSERT OR REPLACE INTO fits VALUES (?, ?, ?)", (weight, fold, scores.astype("<f8").tobytes())
            )

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def __enter__(self) -> "FitStorage":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _open(self, identity: Mapping[str, str]) -> None:
        try:
            tables = {row[0] for row in self._connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
            if not tables:
                with self._connection:
                    self._connection.execute("CREATE TABLE identity (kind TEXT PRIMARY KEY, value TEXT)")
                    self._connection.execute(
                        "CREATE TABLE fits (weight REAL, fold INTEGER, scores BLOB, PRIMARY KEY (weight, fold))"
                    )
                    self._connection.executemany(
                        "INSERT INTO identity VALUES (?, ?)", [("format", FORMAT), *identity.items()]
                    )
                return
            found = dict(self._connection.execute("SELECT kind, value FROM identity"))
        except sqlite3.DatabaseError as error:
            raise ValueError(f"storage={str(self._path)!r} is not a file of finished fits: {error}") from None
        if found.get("format") != FORMAT:
            raise ValueError(f"storage={str(self._path)!r} is not in this version's format; give another path")
        differing = [kind for kind, value in identity.items() if found.get(kind) != value]
        if differing:
            raise ValueError(
                f"storage={str(self._path)!r} holds fits with other {', '.join(differing)}; "
                "give another path, or delete the file"
            )
