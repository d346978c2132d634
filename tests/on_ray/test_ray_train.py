"""The same objective inside Ray Train: skipped where Ray is not installed (pip install 'otfairboost[ray]')."""

import json
import os
import sys

import numpy as np
import pytest

from otfairboost import FairXGBClassifier

ray = pytest.importorskip("ray")
pytestmark = pytest.mark.filterwarnings("ignore")  # Ray's own

SMALL = {"n_estimators": 8, "max_depth": 4, "n_jobs": 1, "verbosity": 0}


def make_rows(n_rows=2000):
    rng = np.random.default_rng(0)
    groups = np.sort(rng.integers(0, 2, n_rows))  # so that the first worker has one group alone
    X = rng.integers(0, 8, (n_rows, 5)).astype(np.float32)
    X[:, 0] += 2 * groups
    return X, np.where(X[:, 0] - 0.5 * X[:, 1] + rng.logistic(size=n_rows) > 3, "yes", "no"), groups


def test_trees_are_those_of_one_machine(tmp_path, monkeypatch):
    from ray.train import RunConfig, ScalingConfig
    from ray.train.xgboost import XGBoostTrainer

    def train(config):
        from ray.train import get_context

        from otfairboost import FairXGBClassifier
        from otfairboost.distributed import fit_shard

        rank = get_context().get_world_rank()
        X, y, groups = (column[config["bounds"][rank] : config["bounds"][rank + 1]] for column in config["rows"])
        model = fit_shard(FairXGBClassifier(**config["params"]), X, y, sensitive_features=groups)
        margin = model.predict(config["rows"][0], output_margin=True)
        found = {"rows": model.rows_per_worker_, "margin": margin.tolist()}
        with open(f"{config['folder']}/{rank}.json", "w") as file:
            json.dump(found, file)

    monkeypatch.setenv("RAY_AUTH_MODE", "disabled")
    rows = make_rows()
    environment = {"env_vars": {"PYTHONPATH": os.pathsep.join(sys.path)}}
    ray.init(num_cpus=3, include_dashboard=False, log_to_driver=False, runtime_env=environment)
    try:
        XGBoostTrainer(
            train,
            train_loop_config={"rows": rows, "bounds": [0, 800, 2000], "params": SMALL, "folder": str(tmp_path)},
            scaling_config=ScalingConfig(num_workers=2),
            run_config=RunConfig(storage_path=str(tmp_path / "ray")),
        ).fit()
    finally:
        ray.shutdown()
    X, y, groups = rows
    alone = FairXGBClassifier(**SMALL).fit(X, y, sensitive_features=groups).predict(X, output_margin=True)
    for rank in (0, 1):
        found = json.loads((tmp_path / f"{rank}.json").read_text())
        assert found["rows"] == [800, 1200]
        np.testing.assert_allclose(found["margin"], alone, atol=1e-5)
