"""What goes into a method and what comes out."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pandas as pd


class Rows(NamedTuple):
    """Rows to fit on or to predict.

    Attributes
    ----------
    X : DataFrame of shape (n_rows, n_features)
        Features, the sensitive attribute among them, as in the paper.
    y : ndarray of shape (n_rows,)
        0 and 1, or numbers.
    s : ndarray of shape (n_rows,)
        Group labels. In test rows only post-processing methods may look at them.
    sample_weight : ndarray of shape (n_rows,) or None
        Training weights.
    """

    X: pd.DataFrame
    y: NDArray[np.float64]
    s: NDArray[np.object_]
    sample_weight: NDArray[np.float64] | None = None

    def label_weights(self) -> dict[int, float] | None:
        """Return the training weight of each label, for methods that take no row weights, or count them in the gap."""
        if self.sample_weight is None:
            return None
        found = {}
        for label in (0, 1):
            weights = np.unique(self.sample_weight[self.y == label])
            if len(weights) != 1:
                raise ValueError(
                    f"sample_weight has {len(weights)} values in rows of label {label}; one is needed for each label"
                )
            found[label] = float(weights[0])
        return found


class TaskData(NamedTuple):
    """The rows of a task, and what is to be said about them; the first four fields are those of `Rows`."""

    X: pd.DataFrame
    y: NDArray[np.float64]
    s: NDArray[np.object_]
    sample_weight: NDArray[np.float64] | None
    simulated: bool
    description: str

    def take(self, index: NDArray[np.intp]) -> Rows:
        """Return the rows at these positions."""
        weight = None if self.sample_weight is None else self.sample_weight[index]
        return Rows(self.X.iloc[index], self.y[index], self.s[index], weight)


class Prediction(NamedTuple):
    """What a method says about test rows.

    Attributes
    ----------
    score : ndarray of shape (n_rows,)
        Probabilities of the positive class, or predictions.
    label : ndarray of shape (n_rows,) or None
        Decisions of 0 and 1 where the method has a rule of its own; None: 1 where the score is at least 0.5.
    extra : tuple of Prediction
        Further members of a frontier that the same fit gave; members at the same position of two folds belong together.
    """

    score: NDArray[np.float64]
    label: NDArray[np.int64] | None = None
    extra: tuple[Prediction, ...] = ()
