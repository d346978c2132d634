"""All methods behind their interface: what they can do, that they repeat, and that the fair ones are fairer."""

import lightgbm as lgb
import numpy as np
import pytest

from loan_tasks import SMALL, TASKS, split
from otfairboost.benchmark.methods import METHODS, bin_rows, get_method
from otfairboost.benchmark.methods.plain import lightgbm_parameters
from otfairboost.benchmark.tasks import TASKS as PUBLIC_TASKS

ORDER = [
    "baseline", "fair_gs", "fair_eg", "fairgbm", "fair_xgboost", "otfairboost_paper", "otfairboost", "w1_post",
    "w2_post",
]  # fmt: skip
FAIR = {
    "fair_gs": {"grid_limit": 0.35, "grid_size": 1, "direction_seed": None},
    "fair_eg": {"difference_bound": 0.01},
    "fairgbm": {"multiplier_learning_rate": 0.1},
    "fair_xgboost": {"mu": None},
    "otfairboost_paper": {"fairness_weight": 20.0, "bandwidth": 0.1},
    "otfairboost": {"fairness_weight": 5.0},
    "w1_post": {"gap_bound": 0.0},
    "w2_post": {"kept_difference": 0.0},
}
CAN = {
    "dp": [name for name in ORDER if name != "fairgbm"],
    "eodds": ["baseline", "fair_gs", "fair_eg", "fairgbm", "otfairboost_paper", "otfairboost"],
    "groups": [name for name in ORDER if name not in ("fairgbm", "fair_xgboost")],
    "regression": ["baseline", "otfairboost_paper", "otfairboost", "w2_post"],
    "balanced": [name for name in ORDER if name != "fairgbm"],
}
RUNS = [(task, method) for task, methods in CAN.items() for method in methods]
FEW = [(task, method) for task, method in RUNS if method != "fair_eg" or task == "dp"]  # it trains some 25 models a fit


def run(task, method, own, rows, **keywords):
    train, test = rows
    return METHODS[method].fit_predict(TASKS[task], SMALL, own, train, test, 1, 7, **keywords)


@pytest.fixture(scope="module")
def data():
    return {name: split(task) for name, task in TASKS.items()}


def test_the_order_of_the_tables():
    assert list(METHODS) == ORDER
    assert all(method.name == name and method.title for name, method in METHODS.items())
    assert [name for name, method in METHODS.items() if method.needs_s] == ["w1_post", "w2_post"]


@pytest.mark.parametrize("task", CAN)
def test_methods_say_what_they_cannot_do(task):
    able = [name for name, method in METHODS.items() if method.extra_reason(TASKS[task]) is None]
    assert able == CAN[task]
    for method in METHODS.values():
        reason = method.extra_reason(TASKS[task])
        assert reason is None or len(reason) > 10


def test_what_has_a_figure_in_the_paper_can_be_done_here():
    for task in PUBLIC_TASKS.values():
        for name in task.paper:
            if (task.name, name) != ("communities_dp", "w1_post"):  # the paper does not say how it decides there
                assert METHODS[name].extra_reason(task) is None, (task.name, name)


@pytest.mark.parametrize(("task", "method"), FEW)
def test_predictions_are_finite_and_repeatable(data, task, method):
    _, test = data[task]
    own = METHODS[method].default(TASKS[task])
    first, second = (run(task, method, own, data[task]) for _ in range(2))
    assert np.isfinite(first.score).all()
    assert first.score.shape == test.y.shape
    np.testing.assert_array_equal(first.score, second.score)
    if first.label is not None:
        assert set(first.label) <= {0, 1}
        np.testing.assert_array_equal(first.label, second.label)
    assert len(first.extra) == len(second.extra) == (9 if method == "fair_gs" else 0)


@pytest.mark.parametrize(("task", "method"), [(t, m) for t, m in RUNS if m != "baseline" and t != "balanced"])
def test_fair_methods_are_fairer_than_the_baseline_and_better_than_chance(data, task, method):
    _, test = data[task]
    judge = TASKS[task]
    plain = judge.evaluate(test.y, run(task, "baseline", {}, data[task]), test.s)
    fair = judge.evaluate(test.y, run(task, method, FAIR[method], data[task]), test.s)
    assert fair[judge.gap] < 0.7 * plain[judge.gap]
    if judge.kind == "classification":
        assert fair["roc_auc"] > 0.65
    else:
        assert fair["mse"] < np.var(test.y)


@pytest.mark.parametrize(("task", "method"), FEW)
def test_drawn_configurations_can_be_fitted(data, task, method):
    own = METHODS[method].sample(np.random.default_rng(5), TASKS[task])
    assert np.isfinite(run(task, method, own, data[task]).score).all()


@pytest.mark.parametrize("method", [name for name in ORDER if name not in ("w1_post", "w2_post")])
def test_only_post_processing_looks_at_the_groups_of_test_rows(data, method):
    task = "eodds" if method == "fairgbm" else "dp"
    train, test = data[task]
    blind = test._replace(y=np.full(len(test.y), np.nan), s=np.full(len(test.s), "unknown", dtype=object))
    own = METHODS[method].default(TASKS[task])
    np.testing.assert_array_equal(
        run(task, method, own, (train, test)).score, run(task, method, own, (train, blind)).score
    )


@pytest.mark.parametrize("task", ["dp", "regression", "balanced"])
def test_the_baseline_is_lightgbm(data, task):
    train, test = data[task]
    kind = lgb.LGBMClassifier if TASKS[task].kind == "classification" else lgb.LGBMRegressor
    model = kind(**SMALL, random_state=7, n_jobs=1, verbosity=-1, force_col_wise=True)
    model.fit(train.X, train.y, sample_weight=train.sample_weight)
    expected = model.predict_proba(test.X)[:, 1] if task != "regression" else model.predict(test.X)
    np.testing.assert_array_equal(run(task, "baseline", {}, data[task]).score, expected)


@pytest.mark.parametrize("method", ["baseline", "fair_xgboost", "w1_post", "w2_post"])
def test_rows_binned_once_serve_many_configurations(data, method):
    train, _ = data["balanced"]
    own, dataset = METHODS[method].default(TASKS["balanced"]), bin_rows(train)
    expected = run("balanced", method, own, data["balanced"]).score
    for _ in range(2):
        np.testing.assert_array_equal(
            run("balanced", method, own, data["balanced"], shared_dataset=dataset).score, expected
        )


def test_results_do_not_depend_on_the_number_of_threads(data):
    train, test = data["dp"]
    for name in ("baseline", "otfairboost"):
        method = METHODS[name]
        one, two = (
            method.fit_predict(TASKS["dp"], SMALL, method.default(TASKS["dp"]), train, test, n_jobs, 7).score
            for n_jobs in (1, 2)
        )
        np.testing.assert_array_equal(one, two)


def test_the_number_of_trees_and_the_seed_arrive():
    parameters = lightgbm_parameters({"num_leaves": 5}, 2, 11)
    assert parameters["seed"] == 11
    assert parameters["num_threads"] == 2
    assert parameters["num_leaves"] == 5


def test_the_two_forms_of_ours_differ_in_what_the_paper_says(data):
    train, test = data["dp"]
    from otfairboost import FairLGBMClassifier

    model = FairLGBMClassifier(
        **SMALL, fairness_weight=2.0, bandwidth=0.5, transport="kde", fairness_hessian="paper", random_state=7,
        n_jobs=1, verbosity=-1, force_col_wise=True,
    ).fit(train.X, train.y, sensitive_features=train.s)  # fmt: skip
    expected = model.predict_proba(test.X)[:, 1]
    own = {"fairness_weight": 2.0, "bandwidth": 0.5}
    np.testing.assert_array_equal(run("dp", "otfairboost_paper", own, data["dp"]).score, expected)
    assert (run("dp", "otfairboost", {"fairness_weight": 2.0}, data["dp"]).score != expected).any()


def test_unknown_method():
    with pytest.raises(ValueError, match=r"method='fairgs' is unknown; allowed are baseline, fair_gs, .*w2_post"):
        get_method("fairgs")
