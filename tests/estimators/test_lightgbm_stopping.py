"""Early stopping and callbacks: as in LightGBM, and on the metrics of this package."""

import lightgbm as lgb
import numpy as np
import pytest

from estimators.samples import ALMOST_PLAIN, SMALL, make_loans, make_wages
from otfairboost import FairLGBMClassifier, FairLGBMRegressor
from otfairboost.metrics import METRICS

LOANS, MORE_LOANS = make_loans(), make_loans(300, seed=1)
EAGER = {"n_estimators": 80, "learning_rate": 0.3}
OF_TWO = [name for name, metric in METRICS.items() if metric.classes != "many"]  # for the others see test_multiclass.py


def fit(model, sample=LOANS, held_out=MORE_LOANS, **fit_arguments):
    given = {"eval_X": held_out.X, "eval_y": held_out.y} if "eval_set" not in fit_arguments else {}
    given |= fit_arguments
    if not isinstance(model, FairLGBMClassifier | FairLGBMRegressor):
        return model.fit(sample.X, sample.y, **given)
    if isinstance(given.get("eval_X"), np.ndarray):
        given["eval_sensitive_features"] = held_out.groups
    return model.fit(sample.X, sample.y, sensitive_features=sample.groups, **given)


def stop(rounds=5, **kwargs):
    return lgb.early_stopping(rounds, verbose=False, **kwargs)


@pytest.mark.parametrize(
    ("params", "fit_arguments", "callback"),
    [
        ({}, {"eval_metric": "binary_logloss"}, stop()),
        ({}, {"eval_metric": "auc"}, stop()),
        ({}, {"eval_metric": ["auc", "error"]}, stop(3, first_metric_only=True)),
        ({"metric": "None"}, {"eval_metric": "average_precision"}, stop(min_delta=0.001)),
        ({"early_stopping_round": 4, "metric": "binary_error"}, {}, None),
        ({"n_iter_no_change": 4, "first_metric_only": True, "metric": ["l2", "auc"]}, {}, None),
        (
            {"metric": ["auc", "binary_logloss"]},
            {"eval_set": [(LOANS.X, LOANS.y), (MORE_LOANS.X, MORE_LOANS.y), (LOANS.X[::2], LOANS.y[::2])]},
            stop(),
        ),
        ({"metric": "auc", "n_estimators": 6}, {}, stop(50)),
    ],
)
@pytest.mark.filterwarnings("ignore:The argument 'eval_set' is deprecated")  # LightGBM's own
def test_stops_where_lightgbm_does(params, fit_arguments, callback):
    fit_arguments = {**fit_arguments, "callbacks": [callback] if callback else None}
    plain = fit(lgb.LGBMClassifier(**SMALL | EAGER | params), **fit_arguments)
    fair = fit(FairLGBMClassifier(fairness_weight=ALMOST_PLAIN, **SMALL | EAGER | params), **fit_arguments)
    assert plain.best_iteration_ < plain.n_estimators or params.get("n_estimators")
    assert fair.best_iteration_ == plain.best_iteration_ > 0
    assert fair.n_estimators_ == plain.n_estimators_
    np.testing.assert_allclose(fair.predict_proba(LOANS.X), plain.predict_proba(LOANS.X), rtol=0, atol=1e-12)
    assert {k: {m: len(v) for m, v in h.items()} for k, h in fair.evals_result_.items()} == {
        k: {m: len(v) for m, v in h.items()} for k, h in plain.evals_result_.items()
    }


@pytest.mark.parametrize("metric", ["fair_objective", "base_loss", "fairness_penalty", *OF_TWO])
def test_stops_on_metrics_of_this_package(metric):
    params = SMALL | EAGER | {"metric": "None", "fairness_weight": 4.0}
    arguments = {"eval_metric": metric}
    if metric in METRICS and METRICS[metric].needs_control:
        arguments["eval_control_features"] = np.arange(len(MORE_LOANS.y)) % 2
    full = fit(FairLGBMClassifier(**params), **arguments)
    (values,) = full.evals_result_["valid_0"].values()
    greater = metric in METRICS and METRICS[metric].greater_is_better
    stopped = fit(FairLGBMClassifier(**params), **arguments, callbacks=[stop(6)])
    best = 0
    for i, value in enumerate(values):
        if value > values[best] if greater else value < values[best]:
            best = i
        if i - best >= 6:
            break
    assert stopped.best_iteration_ == best + 1
    assert stopped.booster_.num_trees() == best + 1
    np.testing.assert_array_equal(
        stopped.predict_proba(MORE_LOANS.X), full.predict_proba(MORE_LOANS.X, num_iteration=best + 1)
    )
    (value,) = stopped.best_score_["valid_0"].values()
    assert value == values[best]


def test_first_metric_is_the_first_asked_for():
    # "auc" is computed by LightGBM and would come first.
    arguments = {"eval_metric": ["fairness_penalty", "auc"], "callbacks": [stop(3, first_metric_only=True)]}
    both = fit(FairLGBMClassifier(**SMALL | EAGER), **arguments)
    alone = fit(FairLGBMClassifier(**SMALL | EAGER), **arguments | {"eval_metric": "fairness_penalty"})
    other = fit(FairLGBMClassifier(**SMALL | EAGER), **arguments | {"eval_metric": ["auc", "fairness_penalty"]})
    assert both.best_iteration_ == alone.best_iteration_ != other.best_iteration_


def test_stopping_gets_past_values_that_are_undefined():
    # A ratio of selection rates does not exist while nobody is selected.
    params = SMALL | EAGER | {"decision_threshold": 0.7, "fairness_weight": 0.1}
    model = fit(FairLGBMClassifier(**params), eval_metric="demographic_parity_ratio", callbacks=[stop(10)])
    values = model.evals_result_["valid_0"]["demographic_parity_ratio"]
    assert values[0] == -np.inf
    assert model.best_iteration_ == int(np.argmax(values)) + 1 > 1


def test_regressor_stops_on_the_fair_objective():
    wages, held_out = make_wages(), make_wages(300, seed=1)
    params = {**SMALL, **EAGER, "n_estimators": 300}
    model = fit(FairLGBMRegressor(**params), wages, held_out, callbacks=[stop()])
    values = model.evals_result_["valid_0"]["fair_objective"]
    assert model.best_iteration_ == int(np.argmin(values)) + 1 < params["n_estimators"]


@pytest.mark.parametrize("callbacks", [[stop()], None])
def test_stopping_needs_something_to_follow(callbacks):
    params = {"early_stopping_round": 5} if callbacks is None else {}
    model = FairLGBMClassifier(**SMALL | params)
    with pytest.raises(ValueError, match="at least one dataset and eval metric is required"):
        model.fit(LOANS.X, LOANS.y, sensitive_features=LOANS.groups, callbacks=callbacks)


# ------------------------------------------------------------------------------------------------- callbacks


def test_learning_rates_can_be_scheduled():
    rates = np.linspace(0.3, 0.05, SMALL["n_estimators"]).tolist()
    for schedule in (rates, lambda i: rates[i]):
        arguments = {"callbacks": [lgb.reset_parameter(learning_rate=schedule)]}
        plain = fit(lgb.LGBMClassifier(**SMALL), **arguments)
        fair = fit(FairLGBMClassifier(fairness_weight=ALMOST_PLAIN, **SMALL), **arguments)
        np.testing.assert_allclose(fair.predict_proba(LOANS.X), plain.predict_proba(LOANS.X), rtol=0, atol=1e-12)


@pytest.mark.parametrize("how", ["reset_parameter", "own callback"])
def test_the_hessian_follows_the_learning_rate(how):
    def reset(env):
        env.model.reset_parameter({"learning_rate": 0.4})

    reset.before_iteration = True
    callback = lgb.reset_parameter(learning_rate=lambda i: 0.4) if how == "reset_parameter" else reset
    followed = fit(FairLGBMClassifier(**SMALL), callbacks=[callback])
    wanted = fit(FairLGBMClassifier(**SMALL, fairness_hessian=0.8), callbacks=[callback])
    np.testing.assert_array_equal(followed.predict_proba(LOANS.X), wanted.predict_proba(LOANS.X))
    stale = fit(FairLGBMClassifier(**SMALL, fairness_hessian=0.2), callbacks=[callback])
    assert np.abs(followed.predict_proba(LOANS.X) - stale.predict_proba(LOANS.X)).max() > 1e-3


def test_callbacks_see_what_lightgbms_callbacks_see():
    def watch(seen):
        def callback(env):
            seen.append((env.iteration, env.begin_iteration, env.end_iteration, [
                (r[0], r[1], r[3]) for r in env.evaluation_result_list
            ]))  # fmt: skip

        return callback

    theirs, ours = [], []
    arguments = {"eval_X": (MORE_LOANS.X, LOANS.X[:90]), "eval_y": (MORE_LOANS.y, LOANS.y[:90]),
                 "eval_metric": ["auc", "binary_error"]}  # fmt: skip
    fit(lgb.LGBMClassifier(**SMALL), **arguments, callbacks=[watch(theirs)])
    fit(FairLGBMClassifier(**SMALL), **arguments, callbacks=[watch(ours)])
    assert len(ours) == SMALL["n_estimators"]
    assert ours == theirs


def test_callbacks_may_end_training_and_their_list_is_not_changed():
    def end(env):
        if env.iteration == 3:
            raise lgb.callback.EarlyStopException(env.iteration, env.evaluation_result_list)

    history = {}
    callbacks = [end, lgb.record_evaluation(history), lgb.log_evaluation(0)]
    model = fit(FairLGBMClassifier(**SMALL), callbacks=callbacks)
    assert len(callbacks) == 3
    assert model.best_iteration_ == model.n_estimators_ == 4
    assert len(history["valid_0"]["fair_objective"]) == 3  # the last one came after the end


def test_log_evaluation_prints_the_fair_objective(capsys):
    fit(FairLGBMClassifier(**SMALL | {"verbosity": 1}), callbacks=[lgb.log_evaluation(5)])
    assert "[5]\tvalid_0's fair_objective: 0." in capsys.readouterr().out
