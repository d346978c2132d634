"""Results on disk: one SQLite file, one row for every finished fit, written at once.

The rollback journal with full synchronisation is SQLite's safest mode: a process that is killed, or a disk that is
full, costs the row being written and nothing else.
"""

import json
import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple

APPLICATION_ID = 0x4F544642  # "OTFB", in the header of the file
FORMAT = 1
BUSY_SECONDS = 60.0

_SCHEMA = """
CREATE TABLE run (
    task TEXT PRIMARY KEY, protocol TEXT NOT NULL, information TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE result (
    task TEXT NOT NULL, study TEXT NOT NULL, method TEXT NOT NULL, configuration INTEGER NOT NULL,
    split TEXT NOT NULL, parameters TEXT NOT NULL, metrics TEXT NOT NULL, fit_seconds REAL, cpu_seconds REAL,
    error TEXT, finished TEXT NOT NULL,
    PRIMARY KEY (task, study, method, configuration, split)
) WITHOUT ROWID;
"""


class StoreError(RuntimeError):
    """The store cannot be used; the message says why and what to do."""


class Key(NamedTuple):
    """What was fitted: a study ("search" or "weights"), a method, a configuration, a split ("2", or "1+3")."""

    study: str
    method: str
    configuration: int
    split: str


class Result(NamedTuple):
    """A finished fit.

    Attributes
    ----------
    key : Key
    parameters : dict
        ``{"shared": ..., "own": ...}``.
    metrics : dict
        For every fold that was predicted, the metrics of the prediction, then of further members of the method's
        own frontier: ``{"2": [{"average_precision": ...}, ...]}``. Empty if the fit failed.
    fit_seconds, cpu_seconds : float or None
        Wall-clock and processor time of fit and prediction.
    error : str or None
        Why the fit failed.
    finished : str
        Time, ISO 8601.
    """

    key: Key
    parameters: dict[str, Any]
    metrics: dict[str, list[dict[str, float]]]
    fit_seconds: float | None
    cpu_seconds: float | None
    error: str | None
    finished: str


class Run(NamedTuple):
    """A task in the store: what its results have in common, and what a report says about them."""

    task: str
    protocol: dict[str, Any]
    information: dict[str, Any]


class Store:
    """A file of benchmark results.

    Parameters
    ----------
    path : path
        The file.
    create : bool
        Whether to make it if it does not exist.
    """

    def __init__(self, path: str | os.PathLike[str], *, create: bool = False) -> None:
        self.path = Path(path)
        if self.path.is_dir():
            raise StoreError(f"store {self.path} is a folder; give a file")
        if not self.path.exists() and not create:
            raise StoreError(f"store {self.path} does not exist; 'otfairboost benchmark run' makes one")
        with self._explained("opened"):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._connection = sqlite3.connect(self.path, timeout=BUSY_SECONDS, isolation_level=None)
        try:
            self._prepare(create)
        except BaseException:
            self.close()
            raise

    def _prepare(self, create: bool) -> None:
        with self._explained("read"):
            tables = self._value("SELECT count(*) FROM sqlite_master")
            application, found = self._value("PRAGMA application_id"), self._value("PRAGMA user_version")
            if application not in (0, APPLICATION_ID) or (tables and application == 0):
                raise StoreError(f"{self.path} is a database of something else; give another store")
            if tables and found != FORMAT:
                raise StoreError(
                    f"store {self.path} has format {found}, this version reads {FORMAT}; give another store"
                )
            if tables and (flaw := self._value("PRAGMA quick_check(1)")) != "ok":
                raise StoreError(f"store {self.path} is damaged ({flaw}); give another store, or remove it")
        if not tables:
            if not create:
                raise StoreError(f"store {self.path} holds no results")
            with self._explained("written"), self._transaction():
                if not self._value("SELECT count(*) FROM sqlite_master"):  # another process may have been first
                    for statement in filter(str.strip, _SCHEMA.split(";")):
                        self._connection.execute(statement)
                    self._connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
                    self._connection.execute(f"PRAGMA user_version = {FORMAT}")
        self._connection.execute("PRAGMA synchronous = FULL")

    def _value(self, statement: str) -> Any:
        return self._connection.execute(statement).fetchone()[0]

    @contextmanager
    def _explained(self, verb: str) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            hint = "free some space and run the same command again" if "full" in str(error) else "check the path"
            if isinstance(error, sqlite3.DatabaseError) and not isinstance(error, sqlite3.OperationalError):
                hint = "it is damaged or no benchmark store: give another one, or remove it"
            raise StoreError(f"store {self.path} cannot be {verb} ({error}); {hint}") from error

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._connection.execute("COMMIT")
        except BaseException:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise

    def begin(self, run: Run) -> None:
        """Enter a task, or make sure that the store's results of it were made in the same way.

        Raises
        ------
        StoreError
            The store holds results of this task under another protocol, or of any task by another version.
        """
        with self._explained("written"), self._transaction():
            for other in self._read_runs():
                differing = _differences(other, run)
                if differing:
                    raise StoreError(
                        f"store {self.path} holds results of {other.task} that were made in another way "
                        f"({'; '.join(differing)}) and are never mixed; give another store"
                    )
            self._connection.execute(
                "INSERT INTO run VALUES (?, ?, ?) ON CONFLICT (task) DO NOTHING",
                (run.task, json.dumps(run.protocol, sort_keys=True), json.dumps(run.information)),
            )

    def add(self, task: str, result: Result) -> None:
        """Write one result, at once and for good."""
        values = (
            task, *result.key, json.dumps(result.parameters), json.dumps(result.metrics), result.fit_seconds,
            result.cpu_seconds, result.error, result.finished,
        )  # fmt: skip
        with self._explained("written"), self._transaction():
            self._connection.execute(f"INSERT OR REPLACE INTO result VALUES ({','.join('?' * len(values))})", values)

    def runs(self) -> list[Run]:
        """Return the tasks of the store, in the order of their names."""
        with self._explained("read"):
            return self._read_runs()

    def _read_runs(self) -> list[Run]:
        rows = self._connection.execute("SELECT task, protocol, information FROM run ORDER BY task")
        return [Run(task, json.loads(protocol), json.loads(information)) for task, protocol, information in rows]

    def results(self, task: str) -> list[Result]:
        """Return the finished fits of a task, in the order of their keys."""
        with self._explained("read"):
            rows = self._connection.execute(
                "SELECT study, method, configuration, split, parameters, metrics, fit_seconds, cpu_seconds, error, "
                "finished FROM result WHERE task = ? ORDER BY study, method, configuration, split",
                (task,),
            ).fetchall()
        return [Result(Key(*row[:4]), json.loads(row[4]), json.loads(row[5]), *row[6:]) for row in rows]

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def __enter__(self) -> "Store":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _differences(stored: Run, wanted: Run) -> list[str]:
    """Return what sets two runs apart: everything for the same task, the versions alone for another."""
    names = wanted.protocol.keys() | stored.protocol.keys() if stored.task == wanted.task else {"versions"}
    return [
        f"{name} {json.dumps(stored.protocol.get(name))} there, {json.dumps(wanted.protocol.get(name))} here"
        for name in sorted(names)
        if stored.protocol.get(name) != wanted.protocol.get(name)
    ]
