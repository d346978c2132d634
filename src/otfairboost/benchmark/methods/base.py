"""What every method of the benchmark can be asked."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from otfairboost.benchmark.rows import Prediction, Rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    import lightgbm as lgb

    from otfairboost.benchmark.tasks import Task

Parameters = dict[str, Any]


class Method(ABC):
    """A way to train a model, fair or not.

    Attributes
    ----------
    name : str
        Its name in ``METHODS``.
    title : str
        Its name in the paper's tables.
    needs_s : bool
        Whether predicting needs the sensitive attribute; the paper prints such methods in italics.
    fits : int
        About how many models one configuration trains: what it costs in units of the baseline.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    needs_s: ClassVar[bool] = False
    fits: ClassVar[int] = 1

    def extra_reason(self, task: Task) -> str | None:
        """Return why the method cannot do a task; None if it can."""
        return None

    @abstractmethod
    def sample(self, rng: np.random.Generator, task: Task) -> Parameters:
        """Draw the method's own parameters for a task."""

    def sample_all(self, streams: Sequence[np.random.Generator], task: Task) -> list[Parameters]:
        """Draw one configuration from each stream; those of fewer streams are the first of those of more."""
        return [self.sample(rng, task) for rng in streams]

    @abstractmethod
    def default(self, task: Task) -> Parameters:
        """Return the method's own parameters where no search takes place."""

    @abstractmethod
    def fit_predict(
        self,
        task: Task,
        shared: Parameters,
        own: Parameters,
        train: Rows,
        test: Rows,
        n_jobs: int,
        seed: int,
        shared_dataset: lgb.Dataset | None = None,
    ) -> Prediction:
        """Train on the training rows and predict the test rows.

        Parameters
        ----------
        task : Task
        shared : dict
            LightGBM's parameters, the same for all methods (`otfairboost.benchmark.spaces`).
        own : dict
            The method's own parameters, from `sample` or `default`.
        train, test : Rows
            Of ``test`` a method may look at X, and at s if ``needs_s``.
        n_jobs : int
            Threads.
        seed : int
            The same call with the same seed gives the same prediction, bit for bit.
        shared_dataset : lightgbm.Dataset, optional
            The training rows as `bin_rows` returns them, to bin them once for many configurations. Methods that
            cannot use it bin for themselves.
        """


def refuse_regression(task: Task, why: str) -> str | None:
    """Return the reason of a method for classification only."""
    return why if task.kind == "regression" else None
