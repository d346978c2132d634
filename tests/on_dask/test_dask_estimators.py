"""Metrics, early stopping, predictions, and the model taken home."""

import inspect
import json
import pickle

import numpy as np
import pandas as pd
import pytest
import xgboost as xgb
from sklearn.base import clone

from on_dask.clustered import make_table, spread
from otfairboost import FairXGBClassifier, FairXGBRegressor
from otfairboost.distributed import DaskFairXGBClassifier, DaskFairXGBRegressor

SMALL = {"n_estimators": 8, "max_depth": 3, "n_jobs": 1, "verbosity": 0}
TABLE, MORE = make_table(1500), make_table(700, seed=1)
METRICS = ["logloss", "fair_objective", "base_loss", "fairness_penalty", "demographic_parity_difference",
           "equalized_odds_difference", "accuracy", "wasserstein_distance", "roc_auc"]  # fmt: skip


def fit_both(client, workers, local, on_dask, target, metrics, **params):
    """Return both models, evaluated on other rows, which are on other workers, sorted by group."""
    more = MORE.take(np.argsort(MORE.groups, kind="stable"))
    rows, held_out = spread(client, TABLE, [600, 900], workers[:2]), spread(client, more, [300, 0, 400], workers[1:])
    fitted = []
    for kind, train, test in ((local, TABLE, more), (on_dask, rows, held_out)):
        model = kind(**SMALL | params, eval_metric=metrics)
        model.fit(
            train.X, getattr(train, target), sensitive_features=train.groups, sample_weight=train.weight,
            eval_set=[(train.X, getattr(train, target)), (test.X, getattr(test, target))],
            sample_weight_eval_set=[train.weight, test.weight],
            eval_sensitive_features=[train.groups, test.groups], verbose=False,
        )  # fmt: skip
        fitted.append(model)
    return fitted


@pytest.mark.parametrize(
    ("local", "on_dask", "target", "metrics"),
    [
        (FairXGBClassifier, DaskFairXGBClassifier, "y", METRICS),
        (
            FairXGBRegressor, DaskFairXGBRegressor, "wage",
            ["rmse", "fair_objective", "base_loss", "wasserstein_distance", "kolmogorov_smirnov"],
        ),
    ],
)  # fmt: skip
def test_metrics_are_those_of_all_rows(client, workers, local, on_dask, target, metrics):
    alone, together = fit_both(client, workers, local, on_dask, target, metrics)
    assert len(together.rows_per_worker_) == 4  # two train, two more evaluate
    for name in ("validation_0", "validation_1"):
        for metric in metrics:
            np.testing.assert_allclose(
                together.evals_result()[name][metric], alone.evals_result()[name][metric], atol=2e-4, err_msg=metric
            )


def test_early_stopping_is_that_of_one_machine(client, workers):
    params = {
        "n_estimators": 30,
        "early_stopping_rounds": 3,
        "learning_rate": 1.0,
        "max_depth": 5,
        "fairness_weight": 1.0,
    }
    alone, together = fit_both(
        client, workers, FairXGBClassifier, DaskFairXGBClassifier, "y", ["roc_auc", "base_loss"], **params
    )
    assert together.best_iteration == alone.best_iteration < 20
    assert together.to_local().best_iteration == alone.best_iteration


@pytest.mark.parametrize("frames", [False, True])
def test_predictions_are_labels_and_the_model_goes_home(client, workers, frames, tmp_path):
    rows = spread(client, TABLE, [700, 800], workers[:2], frames=frames)
    model = DaskFairXGBClassifier(**SMALL).fit(rows.X, rows.y, sensitive_features=rows.groups)
    X = pd.DataFrame(TABLE.X, columns=[f"f{j}" for j in range(5)]) if frames else TABLE.X
    local = pickle.loads(pickle.dumps(model.to_local()))
    assert type(local) is FairXGBClassifier
    assert local.classes_.tolist() == model.classes_.tolist() == ["no", "yes"]
    predicted = np.asarray(model.predict(rows.X).compute())
    assert predicted.tolist() == local.predict(X).tolist()
    np.testing.assert_allclose(model.predict_proba(rows.X).compute(), local.predict_proba(X), rtol=1e-6)
    np.testing.assert_allclose(
        model.predict(rows.X, output_margin=True).compute(), local.predict(X, output_margin=True)
    )
    local.save_model(tmp_path / "model.json")
    booster = xgb.Booster(model_file=tmp_path / "model.json")
    np.testing.assert_allclose(booster.inplace_predict(X), local.predict_proba(X)[:, 1], rtol=1e-6)
    assert "otfairboost" not in json.dumps(json.loads((tmp_path / "model.json").read_text()))
    assert pickle.loads(pickle.dumps(model)).get_booster().num_boosted_rounds() == 8


def test_it_is_an_estimator():
    for local, on_dask in ((FairXGBClassifier, DaskFairXGBClassifier), (FairXGBRegressor, DaskFairXGBRegressor)):
        assert inspect.signature(on_dask) == inspect.signature(local)
        config = xgb.collective.Config(timeout=7)
        copy = clone(on_dask(max_depth=3, fairness_weight=2.0, coll_cfg=config))
        assert copy.get_params().keys() == local().get_params().keys() | {"coll_cfg"}
        assert (copy.max_depth, copy.fairness_weight) == (3, 2.0)
        assert copy._complete_config().timeout == 7
        assert on_dask()._complete_config().timeout == on_dask()._complete_config().tracker_timeout == 300


def test_warnings_come_to_the_client(client, workers):
    table = TABLE.take(slice(0, 400))._replace(groups=np.array(["a", "b"] * 190 + ["c"] * 20))
    rows = spread(client, table, [200, 200], workers[:2])
    with pytest.warns(UserWarning, match=r"groups of fewer than 30 rows .*: c \(20 rows\)"):
        DaskFairXGBClassifier(**SMALL).fit(rows.X, rows.y, sensitive_features=rows.groups)


def test_a_worker_whose_rows_diverge_is_heard(client, workers):
    """The error of one worker, and not that of the others, who only see it gone."""
    rows = spread(client, TABLE, [1400, 100], workers[:2])
    margin = np.zeros(1500)
    margin[1450:] = 3e38  # beyond single precision after one step
    margins = spread(client, TABLE._replace(weight=margin), [1400, 100], workers[:2]).weight
    model = DaskFairXGBRegressor(**SMALL, learning_rate=1.0).fit(rows.X, rows.wage, sensitive_features=rows.groups)
    before = model.get_booster()
    with pytest.raises(FloatingPointError, match=r"training diverged\. Lower learning_rate or fairness_weight"):
        model.fit(rows.X, rows.wage * 1e37, sensitive_features=rows.groups, base_margin=margins)
    assert model.get_booster() is before
