"""The frontier against fits done by hand and metrics of other packages."""

import pickle
import re
import sqlite3

import fairlearn.metrics
import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score
from sklearn.model_selection import KFold, ShuffleSplit

from estimators.samples import SMALL, make_loans, make_wages
from otfairboost import FairLGBMClassifier, FairLGBMRegressor
from otfairboost.metrics import METRICS
from otfairboost.selection import FairnessFrontier, fits
from otfairboost.selection import frontier as frontier_module

LOANS, WAGES = make_loans(), make_wages()
WEIGHTS = [0.0, 1.0, 5.0, 30.0]
FOLDS = KFold(3)
MODEL = FairLGBMClassifier(**SMALL)


def fit(frontier, sample=LOANS, **arguments):
    return frontier.fit(sample.X, sample.y, sensitive_features=sample.groups, **arguments)


def fit_by_hand(model, weight, sample, train, test, **arguments):
    fitted = clone(model).set_params(fairness_weight=weight)
    fitted.fit(sample.X[train], sample.y[train], sensitive_features=sample.groups[train], **arguments)
    return fitted.predict_proba(sample.X[test])[:, 1] if hasattr(fitted, "classes_") else fitted.predict(sample.X[test])


@pytest.fixture(scope="module")
def frontier():
    return fit(FairnessFrontier(MODEL, weights=WEIGHTS, cv=FOLDS, n_jobs=1))


def test_numbers_and_predictions_are_those_of_fits_by_hand(frontier):
    assert frontier.values_.shape == (4, 3, len(frontier.metrics_))
    for i, weight in enumerate(WEIGHTS):
        for fold, (train, test) in enumerate(FOLDS.split(LOANS.X)):
            score = fit_by_hand(MODEL, weight, LOANS, train, test)
            np.testing.assert_array_equal(frontier.predictions_[i, test], score.astype(np.float32))
            values = dict(zip(frontier.metrics_, frontier.values_[i, fold], strict=True))
            assert values["average_precision"] == pytest.approx(average_precision_score(LOANS.y[test], score))
            gap = fairlearn.metrics.demographic_parity_difference(
                LOANS.y[test], score >= 0.5, sensitive_features=LOANS.groups[test]
            )
            assert values["demographic_parity_difference"] == pytest.approx(gap)
    assert (frontier.performance_, frontier.gap_) == ("average_precision", "demographic_parity_difference")


def test_the_table_has_a_row_for_each_weight_fold_and_metric(frontier):
    table = frontier.table_
    assert list(table.columns) == ["fairness_weight", "fold", "metric", "value"]
    assert len(table) == 4 * 3 * len(frontier.metrics_)
    means = table.groupby(["fairness_weight", "metric"])["value"].mean()
    for point in frontier.points():
        assert point.gap == pytest.approx(means[point.fairness_weight, "demographic_parity_difference"])
        assert point.metrics["log_loss"] == pytest.approx(means[point.fairness_weight, "log_loss"])


def test_held_out_rows_are_in_the_order_of_the_predictions(frontier):
    rows = frontier.held_out_
    np.testing.assert_array_equal(rows.row, np.arange(600))
    np.testing.assert_array_equal(rows.y, LOANS.y)
    assert [rows.groups.labels[code] for code in rows.groups.codes] == LOANS.groups.tolist()
    assert rows.fold.tolist() == np.repeat([0, 1, 2], 200).tolist()


def test_best_is_the_largest_objective(frontier):
    for alpha in (0.0, 0.3, 0.75, 1.0):
        objective = {p.fairness_weight: alpha * p.performance + (1 - alpha) * (1 - p.gap) for p in frontier.points()}
        assert frontier.best(alpha).fairness_weight == max(objective, key=objective.get)
    assert frontier.best(performance="log_loss", alpha=1.0).performance == min(
        point.metrics["log_loss"] for point in frontier.points()
    )


def test_the_pareto_front_and_knee_are_points(frontier):
    front = frontier.pareto()
    assert frontier.knee() in front
    assert [p.gap for p in front] == sorted(p.gap for p in front)
    assert set(front_weights(front)) <= set(WEIGHTS)
    assert front_weights(frontier.pareto(gap="wasserstein_distance")) != []


def front_weights(points):
    return [point.fairness_weight for point in points]


def test_select_is_the_most_accurate_within_the_gap(frontier):
    gaps = sorted(point.gap for point in frontier.points())
    allowed = [point for point in frontier.points() if point.gap <= gaps[2]]
    assert frontier.select(max_gap=gaps[2]) == max(allowed, key=lambda point: point.performance)
    with_bound = frontier.select(max_gap=0.5, confidence=0.95)
    assert frontier.interval(with_bound).high <= 0.5
    by_other = frontier.select(max_gap=1.0, metric="wasserstein_distance", performance="accuracy")
    assert by_other.performance == max(point.metrics["accuracy"] for point in frontier.points())


def test_a_gap_that_no_weight_keeps_names_the_smallest(frontier):
    smallest = min(point.gap for point in frontier.points())
    with pytest.raises(
        ValueError, match=f"^max_gap=0 is not reached: the smallest demographic.* is {smallest:.4g}, at"
    ):
        frontier.select(max_gap=0)


def test_intervals_are_of_all_held_out_rows(frontier):
    interval = frontier.interval(5.0)
    decision = frontier.predictions_[2] >= 0.5
    want = fairlearn.metrics.demographic_parity_difference(LOANS.y, decision, sensitive_features=LOANS.groups)
    assert interval.value == pytest.approx(want)
    assert interval.low < interval.value < interval.high


def test_refit_is_the_estimator_at_the_chosen_weight(frontier):
    point = frontier.points()[2]
    arguments = {"sensitive_features": LOANS.groups}
    got = frontier.refit(point, LOANS.X, LOANS.y, **arguments)
    want = clone(MODEL).set_params(fairness_weight=5.0).fit(LOANS.X, LOANS.y, **arguments)
    np.testing.assert_array_equal(got.predict_proba(LOANS.X), want.predict_proba(LOANS.X))
    assert frontier.refit(1.0, LOANS.X, LOANS.y, **arguments).fairness_weight_ == 1.0


def test_parallel_fits_give_the_same(frontier):
    parallel = fit(FairnessFrontier(MODEL, weights=WEIGHTS[::-1], cv=FOLDS, n_jobs=3))
    np.testing.assert_array_equal(parallel.weights_, WEIGHTS)
    np.testing.assert_array_equal(parallel.predictions_, frontier.predictions_)
    np.testing.assert_array_equal(parallel.values_, frontier.values_)


def test_a_frontier_can_be_pickled(frontier):
    again = pickle.loads(pickle.dumps(frontier))
    assert again.best() == frontier.best()
    assert clone(frontier).get_params(deep=False)["weights"] == WEIGHTS


# ------------------------------------------------------------------------------------------- other inputs


def test_a_regressor():
    model = FairLGBMRegressor(**SMALL)
    frontier = fit(FairnessFrontier(model, weights=[0, 10], cv=FOLDS, n_jobs=1), WAGES)
    assert (frontier.performance_, frontier.gap_) == ("mean_absolute_error", "kolmogorov_smirnov")
    train, test = list(FOLDS.split(WAGES.X))[1]
    score = fit_by_hand(model, 10, WAGES, train, test)
    values = dict(zip(frontier.metrics_, frontier.values_[1, 1], strict=True))
    assert values["mean_absolute_error"] == pytest.approx(np.abs(score - WAGES.y[test]).mean())
    green = WAGES.groups[test] == "green"
    assert values["kolmogorov_smirnov"] == pytest.approx(stats.ks_2samp(score[green], score[~green]).statistic)
    plain, fair = frontier.points(gap="wasserstein_distance")
    assert fair.gap < 0.5 * plain.gap


@pytest.mark.parametrize("fairness", ["equalized_odds", "true_positive_rate_parity"])
def test_the_gap_is_the_criterions(fairness):
    frontier = fit(FairnessFrontier(FairLGBMClassifier(**SMALL, fairness=fairness), weights=[5], cv=2, n_jobs=1))
    assert frontier.gap_ == {"equalized_odds": "equalized_odds_difference"}.get(
        fairness, "true_positive_rate_difference"
    )


def test_every_metric_of_the_library():
    names = [name for name, metric in METRICS.items() if not name.startswith("mean_") and metric.classes != "many"]
    control = np.arange(len(LOANS.y)) % 2
    frontier = fit(FairnessFrontier(MODEL, weights=[1.0], cv=2, metrics=names, n_jobs=1), control_features=control)
    assert set(frontier.metrics_) == set(names)
    assert np.isfinite(frontier.values_).all()


def test_a_frontier_of_conditional_parity():
    control = np.arange(len(LOANS.y)) % 2
    model = clone(MODEL).set_params(fairness="conditional_demographic_parity")
    frontier = fit(FairnessFrontier(model, weights=[0.0, 20.0], cv=FOLDS, n_jobs=1), control_features=control)
    assert frontier.gap_ == "conditional_demographic_parity_difference"
    train, test = list(FOLDS.split(LOANS.X))[1]
    score = fit_by_hand(model, 20.0, LOANS, train, test, control_features=control[train])
    np.testing.assert_array_equal(frontier.predictions_[1, test], score.astype(np.float32))
    gap = METRICS[frontier.gap_].function(
        LOANS.y[test], (score >= 0.5).astype(int), sensitive_features=LOANS.groups[test], control_features=control[test]
    )
    values = dict(zip(frontier.metrics_, frontier.values_[1, 1], strict=True))
    assert values[frontier.gap_] == pytest.approx(gap)
    assert frontier.interval(20.0).value == pytest.approx(
        METRICS[frontier.gap_].function(
            LOANS.y, (frontier.predictions_[1] >= 0.5).astype(int), sensitive_features=LOANS.groups,
            control_features=control,
        )
    )  # fmt: skip
    with pytest.raises(
        ValueError, match="cannot be computed on fold 0: conditional_demographic_parity_difference needs"
    ):
        fit(FairnessFrontier(model, weights=[1.0], cv=FOLDS, n_jobs=1))


def test_a_frontier_of_several_attributes_and_a_continuous_one():
    age = np.random.default_rng(0).uniform(20, 70, len(LOANS.y)) + 10 * LOANS.X[:, 4]
    features = pd.DataFrame({"group": LOANS.groups, "age": age})
    features.loc[::9, "age"] = np.nan
    model = clone(MODEL).set_params(
        multi_attribute="sum", sensitive_bins={"age": [50, 90]}, attribute_weights={"group": 1, "age": 2}
    )
    frontier = FairnessFrontier(model, weights=[0.0, 20.0], cv=FOLDS, n_jobs=1).fit(
        LOANS.X, LOANS.y, sensitive_features=features
    )
    assert frontier.gap_ == "summed_demographic_parity_difference"
    gaps = frontier.values_[:, :, frontier.metrics_.index(frontier.gap_)].mean(axis=1)
    assert gaps[1] < 0.7 * gaps[0]
    binned = features.assign(age=np.digitize(features["age"], [50, 90]).astype(float)).mask(features.isna())
    want = METRICS[frontier.gap_].function(
        LOANS.y, (frontier.predictions_[0] >= 0.5).astype(int), sensitive_features=binned, attribute_weights=[1, 2]
    )
    assert frontier.interval(0.0).value == pytest.approx(want)


def test_a_validation_set_in_place_of_folds():
    train, valid = LOANS.part(slice(0, 400)), LOANS.part(slice(400, None))
    frontier = fit(
        FairnessFrontier(MODEL, weights=WEIGHTS, n_jobs=1), train,
        eval_X=valid.X, eval_y=valid.y, eval_sensitive_features=valid.groups,
    )  # fmt: skip
    model = clone(MODEL).set_params(fairness_weight=5.0).fit(train.X, train.y, sensitive_features=train.groups)
    np.testing.assert_array_equal(frontier.predictions_[2], model.predict_proba(valid.X)[:, 1].astype(np.float32))
    np.testing.assert_array_equal(frontier.held_out_.y, valid.y)
    assert frontier.values_.shape[1] == 1


def test_rows_can_be_held_out_several_times():
    cv = ShuffleSplit(2, test_size=0.6, random_state=0)
    frontier = fit(FairnessFrontier(MODEL, weights=[1.0], cv=cv, n_jobs=1))
    rows = frontier.held_out_
    assert len(rows.row) == frontier.predictions_.shape[1] == 720
    for fold, (train, test) in enumerate(cv.split(LOANS.X)):
        score = fit_by_hand(MODEL, 1.0, LOANS, train, np.sort(test))
        np.testing.assert_array_equal(rows.row[rows.fold == fold], np.sort(test))
        np.testing.assert_array_equal(frontier.predictions_[0, rows.fold == fold], score.astype(np.float32))


def test_weights_named_labels_missing_groups_and_frames():
    groups = pd.Series(LOANS.groups).where(np.arange(600) % 9 > 0)
    frame = pd.DataFrame(LOANS.X, columns=list("abcde"))
    y = pd.Series(np.array(["no", "yes"])[LOANS.y])
    frontier = FairnessFrontier(MODEL, weights=[2.0], cv=FOLDS, n_jobs=1)
    frontier.fit(frame, y, sensitive_features=groups, sample_weight=LOANS.weight)
    train, test = next(iter(FOLDS.split(LOANS.X)))
    model = clone(MODEL).set_params(fairness_weight=2.0)
    model.fit(frame.iloc[train], y[train], sensitive_features=groups[train], sample_weight=LOANS.weight[train])
    score = model.predict_proba(frame.iloc[test])[:, 1]
    values = dict(zip(frontier.metrics_, frontier.values_[0, 0], strict=True))
    precision = average_precision_score(LOANS.y[test], score, sample_weight=LOANS.weight[test])
    assert values["average_precision"] == pytest.approx(precision)
    known = test[groups[test].notna()]
    gap = fairlearn.metrics.demographic_parity_difference(
        LOANS.y[known], score[groups[test].notna()] >= 0.5, sensitive_features=groups[known],
        sample_weight=LOANS.weight[known],
    )  # fmt: skip
    assert values["demographic_parity_difference"] == pytest.approx(gap)
    assert frontier.held_out_.classes == ("no", "yes")


class Shrinking(ClassifierMixin, BaseEstimator):
    """Another kind of estimator: logistic regression, less of it the larger the weight."""

    def __init__(self, fairness_weight=1.0):
        self.fairness_weight = fairness_weight

    def fit(self, X, y, *, sensitive_features, sample_weight=None, feature_name=None, categorical_feature=None):
        self.model_ = LogisticRegression(C=1 / (1e-9 + self.fairness_weight)).fit(np.nan_to_num(X), y)
        self.classes_ = self.model_.classes_
        return self

    def predict_proba(self, X):
        return self.model_.predict_proba(np.nan_to_num(X))


def test_any_estimator_with_a_weight():
    frontier = fit(FairnessFrontier(Shrinking(), weights=[0.1, 1000.0], cv=FOLDS, n_jobs=2))
    train, test = list(FOLDS.split(LOANS.X))[2]
    np.testing.assert_array_equal(
        frontier.predictions_[1, test], fit_by_hand(Shrinking(), 1000.0, LOANS, train, test).astype(np.float32)
    )


def test_divergence_costs_one_weight_not_the_frontier(monkeypatch):
    prepare = fits.prepare

    def prepare_or_diverge(*arguments):
        fit_at = prepare(*arguments)

        def fit_or_diverge(weight):
            if weight == 30.0:
                raise FloatingPointError("diverged")
            return fit_at(weight)

        return fit_or_diverge

    monkeypatch.setattr(fits, "prepare", prepare_or_diverge)
    with pytest.warns(UserWarning, match="^training diverged at fairness_weight 30; these have no numbers"):
        frontier = fit(FairnessFrontier(MODEL, weights=WEIGHTS, cv=2, n_jobs=1))
    assert front_weights(frontier.points()) == WEIGHTS[:3]
    assert np.isnan(frontier.predictions_[3]).all()


def test_without_predictions_there_are_no_intervals():
    frontier = fit(FairnessFrontier(MODEL, weights=[1.0], cv=2, n_jobs=1, keep_predictions=False))
    assert not hasattr(frontier, "predictions_")
    with pytest.raises(ValueError, match=r"^intervals need the held-out predictions; set keep_predictions=True"):
        frontier.interval(1.0)


def test_without_pandas_the_table_is_a_dict_of_arrays(monkeypatch):
    def absent(name):
        raise ImportError(name)

    monkeypatch.setattr(frontier_module, "import_module", absent)
    table = fit(FairnessFrontier(MODEL, weights=[1.0], cv=2, n_jobs=1)).table_
    assert {name: len(column) for name, column in table.items()} == dict.fromkeys(
        ["fairness_weight", "fold", "metric", "value"], 14
    )


# ------------------------------------------------------------------------------------- progress and storage


def test_progress_is_reported(capsys):
    seen = []
    fit(
        FairnessFrontier(MODEL, weights=[0, 1], cv=2, n_jobs=1, progress=lambda done, total: seen.append((done, total)))
    )
    assert seen == [(1, 4), (2, 4), (3, 4), (4, 4)]
    fit(FairnessFrontier(MODEL, weights=[0, 1], cv=2, n_jobs=1, progress=True))
    assert "4/4" in capsys.readouterr().out


@pytest.fixture
def counted(monkeypatch):
    """Count fits; the list's first entry, if set, is how many may succeed."""
    done, prepare = [], fits.prepare

    def counting(*arguments):
        fit_at = prepare(*arguments)

        def count(weight):
            if len(done) == counting.limit:
                raise KeyboardInterrupt
            done.append(weight)
            return fit_at(weight)

        return count

    counting.limit = None
    monkeypatch.setattr(fits, "prepare", counting)
    return done, counting


def test_an_interrupted_frontier_goes_on_where_it_stopped(tmp_path, counted, frontier):
    done, counting = counted
    path = tmp_path / "new" / "fits.db"
    again = FairnessFrontier(MODEL, weights=WEIGHTS, cv=FOLDS, n_jobs=1, storage=path)
    counting.limit = 7
    with pytest.raises(KeyboardInterrupt):
        fit(again)
    with pytest.raises(NotFittedError):
        again.best()
    counting.limit = None
    fit(again)
    assert len(done) == 12
    np.testing.assert_array_equal(again.values_, frontier.values_)
    np.testing.assert_array_equal(again.predictions_, frontier.predictions_)
    more = FairnessFrontier(MODEL, weights=[*WEIGHTS, 2.0], cv=FOLDS, n_jobs=1, storage=str(path), metrics=["roc_auc"])
    fit(more)
    assert done[12:] == [2.0, 2.0, 2.0]
    assert more.values_.shape == (5, 3, 3)


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        ({"estimator": FairLGBMClassifier(**SMALL, focus=2.0)}, "parameters"),
        ({"cv": 4}, "folds"),
        ({"sample": LOANS._replace(X=LOANS.X + 1.0)}, "rows"),
        ({"sample": LOANS._replace(groups=LOANS.groups[::-1])}, "rows"),
    ],
)
def test_fits_of_something_else_are_refused(tmp_path, change, kind, counted):
    path = tmp_path / "fits.db"
    given = {"estimator": MODEL, "weights": [1.0], "cv": FOLDS, "n_jobs": 1, "storage": path}
    fit(FairnessFrontier(**given))
    content, sample = path.read_bytes(), change.pop("sample", LOANS)
    with pytest.raises(ValueError, match=f"^storage='.*fits.db' holds fits with other {kind}; give another path"):
        fit(FairnessFrontier(**given | change), sample)
    assert path.read_bytes() == content
    assert len(counted[0]) == 3


def test_speed_and_messages_may_change(tmp_path, counted):
    path = tmp_path / "fits.db"
    fit(FairnessFrontier(MODEL, weights=[1.0], cv=FOLDS, n_jobs=1, storage=path))
    other = FairLGBMClassifier(**{**SMALL, "n_jobs": 2, "verbosity": 0}, fairness_weight=3.0)
    fit(FairnessFrontier(other, weights=[1.0], cv=FOLDS, n_jobs=2, storage=path))
    assert len(counted[0]) == 3


@pytest.mark.parametrize("content", [b"weight,fold\n1,2\n" * 99, b"\x00\xff" * 600])
def test_another_file_is_not_overwritten(tmp_path, content):
    path = tmp_path / "my.csv"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"^storage='.*my.csv' is not a file of finished fits"):
        fit(FairnessFrontier(MODEL, weights=[1.0], cv=2, n_jobs=1, storage=path))
    assert path.read_bytes() == content


def test_another_database_is_not_touched(tmp_path):
    path = tmp_path / "my.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE mine (a)")
    connection.close()
    with pytest.raises(ValueError, match="is not a file of finished fits: no such table: identity"):
        fit(FairnessFrontier(MODEL, weights=[1.0], cv=2, n_jobs=1, storage=path))
    with pytest.raises(ValueError, match="is a folder; it must be a file"):
        fit(FairnessFrontier(MODEL, weights=[1.0], cv=2, n_jobs=1, storage=tmp_path))


# ---------------------------------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("params", "given", "error", "message"),
    [
        ({"weights": []}, {}, ValueError, "weights=[] must be a list of finite numbers >= 0"),
        ({"weights": 5.0}, {}, ValueError, "weights=5.0 must be a list"),
        ({"weights": "123"}, {}, ValueError, "weights='123' must be a list"),
        ({"weights": [1.0, -1.0]}, {}, ValueError, "weights holds -1.0"),
        ({"weights": [1.0, float("nan")]}, {}, ValueError, "weights holds nan"),
        ({"weights": ["heavy"]}, {}, TypeError, "weights holds 'heavy'; it must be a list of finite numbers"),
        ({"weights": [True]}, {}, TypeError, "weights holds True"),
        ({"estimator": LogisticRegression()}, {}, TypeError, "estimator is LogisticRegression(); it needs a parameter"),
        ({"estimator": FairLGBMClassifier(max_gap=0.1)}, {}, ValueError, "estimator has max_gap=0.1"),
        ({"metrics": ["roc"]}, {}, ValueError, "metrics='roc' is unknown; allowed are"),
        ({"metrics": "roc_auc"}, {}, TypeError, "metrics='roc_auc' must be a list of names"),
        ({"gap": "roc_auc"}, {}, ValueError, "gap='roc_auc' is not a gap"),
        ({"performance": "speed"}, {}, ValueError, "performance='speed' is unknown"),
        ({"metrics": ["multiclass_log_loss"]}, {}, ValueError, "'multiclass_log_loss' is for more than two classes"),
        ({}, {"y": np.arange(600) % 3}, ValueError, "y must have 2 classes, got 3 (0, 1, 2)"),
        ({"cv": 1}, {}, ValueError, "cv=1 must be a number of folds"),
        ({"cv": KFold(300)}, {}, ValueError, "demographic_parity_difference cannot be computed on fold 0"),
        ({}, {"y": np.zeros(600)}, ValueError, "y must have 2 classes, got 1 (0.0)"),
        ({}, {"y": LOANS.y[:9]}, ValueError, "y has 9 rows, but X has 600"),
        ({}, {"sensitive_features": LOANS.groups[:9]}, ValueError, "sensitive_features has 9 rows, but X has 600"),
        ({}, {"sensitive_features": np.arange(600)}, ValueError, "sensitive_features has 600 distinct values"),
        ({}, {"sensitive_features": None}, ValueError, "sensitive_features is None"),
        ({}, {"sample_weight": -np.ones(600)}, ValueError, "sample_weight must not be negative"),
        ({}, {"eval_X": LOANS.X}, ValueError, "eval_X, eval_y and eval_sensitive_features go together"),
        ({}, {"eval_X": LOANS.X, "eval_y": LOANS.y + 7, "eval_sensitive_features": LOANS.groups}, ValueError,
         "eval_y holds labels that y has not: [7, 8]; y has [0, 1]"),
        ({}, {"eval_X": LOANS.X, "eval_y": LOANS.y, "eval_sensitive_features": LOANS.X[:, 4]}, ValueError,
         "eval_sensitive_features holds groups that were not seen in training"),
    ],
)  # fmt: skip
def test_bad_input_is_refused_before_training(params, given, error, message, counted, tmp_path):
    path = tmp_path / "fits.db"
    frontier = FairnessFrontier(**{"estimator": MODEL, "n_jobs": 1, "storage": path, **params})
    with pytest.raises(error, match=f"^{re.escape(message)}"):
        frontier.fit(**{"X": LOANS.X, "y": LOANS.y, "sensitive_features": LOANS.groups, **given})
    assert counted[0] == []
    assert not path.exists()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda f: f.best(1.5), "alpha=1.5 is not allowed; it must lie between 0 and 1"),
        (lambda f: f.select(max_gap=-1), "max_gap=-1 must be a number >= 0"),
        (lambda f: f.select(max_gap=float("nan")), "max_gap=nan must be a number >= 0"),
        (lambda f: f.select(max_gap=1, metric="r2"), "gap='r2' was not computed; computed were 'average_precision'"),
        (lambda f: f.pareto(performance="r2"), "performance='r2' was not computed"),
        (lambda f: f.interval(3.3), "fairness_weight=3.3 is not on the frontier, whose weights are 0, 1, 5, 30"),
    ],
)
def test_bad_choices_are_refused(frontier, call, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}"):
        call(frontier)


def test_an_unfitted_frontier_says_so():
    for call in (FairnessFrontier.pareto, FairnessFrontier.knee, FairnessFrontier.best):
        with pytest.raises(NotFittedError):
            call(FairnessFrontier(MODEL))
