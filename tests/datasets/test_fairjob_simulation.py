"""The simulated FairJob has the published statistics."""

import numpy as np
import pytest
from lightgbm import LGBMClassifier
from numpy.testing import assert_allclose
from scipy.special import ndtr, ndtri
from sklearn.metrics import roc_auc_score

from otfairboost.datasets import fairjob_simulation_report, simulate_fairjob
from otfairboost.datasets.fairjob_simulation.clicks import _clicks_by_cell
from otfairboost.datasets.fairjob_simulation.copula import _hermite_coefficients, _polynomial, latent_correlation
from otfairboost.datasets.fairjob_simulation.generator import simulate_frame
from otfairboost.datasets.fairjob_simulation.latent import column_marginals, copula_correlation
from otfairboost.datasets.fairjob_simulation.marginals import Marginal
from otfairboost.datasets.fairjob_simulation.population import apportion, choose_items
from otfairboost.datasets.fairjob_simulation.products import group_rows, representative_rows, separate_repeats
from otfairboost.datasets.fairjob_simulation.statistics import published_statistics

PUBLISHED = published_statistics()
N_ROWS = 40_000


@pytest.fixture(scope="module")
def frame():
    return simulate_frame(N_ROWS, np.random.default_rng(0))


@pytest.fixture(scope="module")
def report():
    return fairjob_simulation_report(simulate_fairjob(N_ROWS, 0))


def worst(report, kind):
    return report.loc[report["kind"] == kind, "scaled"].abs().max()


class TestShippedStatistics:
    def test_consistent_with_each_other(self):
        table = PUBLISHED.cross_table
        assert table.sum() == PUBLISHED.n_rows == PUBLISHED.rank_pair_rows.sum() == 1_072_226
        assert_allclose(table[..., 1].sum() / table.sum(), PUBLISHED.summaries["click"].mean, rtol=1e-6)
        assert_allclose(table[:, 1].sum() / table.sum(), PUBLISHED.summaries["senior"].mean, rtol=1e-6)
        assert table[1].sum() == table[0].sum()
        assert len(PUBLISHED.columns) == 56
        assert PUBLISHED.correlation.shape == (53, 53)
        assert_allclose(PUBLISHED.correlation, PUBLISHED.correlation.T)
        assert np.linalg.eigvalsh(PUBLISHED.correlation).min() > 0


class TestMarginals:
    @pytest.mark.parametrize("name", [name for name in PUBLISHED.correlation_names if name[:3] in ("cat", "num")])
    def test_published_figures(self, name):
        summary, marginal = PUBLISHED.summaries[name], column_marginals()[name]
        mass = np.diff(marginal.cumulative)
        low, high = marginal.lower, marginal.upper
        mean = mass @ (low + high) / 2
        std = np.sqrt(mass @ (low**2 + low * high + high**2) / 3 - mean**2)
        assert_allclose([mean, std], [summary.mean, summary.std], atol=2e-4 * summary.std)
        quantiles = marginal.quantile(np.array([1e-9, 0.2501, 0.4999, 0.7501, 1 - 1e-9]))
        assert_allclose(quantiles, summary[2:], atol=1e-5 * summary.std)

    def test_rank_has_the_published_pairs(self):
        marginal = column_marginals()["rank"]
        mass = np.diff(marginal.cumulative)
        assert_allclose(mass[::2] + mass[1::2], PUBLISHED.rank_pair_rows / PUBLISHED.n_rows)
        assert_allclose(mass @ marginal.lower, PUBLISHED.summaries["rank"].mean, rtol=1e-6)
        assert_allclose(marginal.quantile(np.array([0.25, 0.5, 0.75])), [2, 5, 9])

    def test_quantile_function_is_that_of_the_cells(self):
        marginal = column_marginals()["num20"]
        level = np.linspace(0, 1, 20_001)[1:-1]
        values = marginal.quantile(level)
        assert (np.diff(values) >= 0).all()
        assert_allclose(values.mean(), PUBLISHED.summaries["num20"].mean, atol=1e-3)


class TestCopula:
    def test_correlation_after_the_transforms(self):
        """Against a sample: not the expansion that the solution itself rests on."""
        marginals, latent = column_marginals(), copula_correlation()
        names = list(marginals)
        pairs = [
            ("num26", "num47", 0.99),
            ("num44", "num50", 0.91),
            ("cat0", "num21", 0.294),
            ("senior", "cat5", 0.145),
        ]
        random = np.random.default_rng(0)
        for first, second, expected in pairs:
            r = latent[names.index(first), names.index(second)]
            z = random.standard_normal((2, 400_000))
            z[1] = r * z[0] + np.sqrt(1 - r * r) * z[1]
            x, y = marginals[first].quantile(ndtr(z[0])), marginals[second].quantile(ndtr(z[1]))
            assert_allclose(np.corrcoef(x, y)[0, 1], expected, atol=0.02)

    def test_all_pairs_are_near_the_published_ones(self):
        marginals, latent = column_marginals(), copula_correlation()
        assert np.linalg.eigvalsh(latent).min() > 0
        assert_allclose(np.diag(latent), 1)
        coefficients = np.stack([_hermite_coefficients(marginal) for marginal in marginals.values()])
        order = [PUBLISHED.correlation_names.index(name) for name in marginals]
        first, second = np.triu_indices(len(order), 1)
        value, _ = _polynomial(coefficients[first] * coefficients[second], latent[first, second])
        error = np.abs(value - PUBLISHED.correlation[np.ix_(order, order)][first, second])
        assert error.max() < 0.04
        assert error.mean() < 0.0015

    def test_normal_columns_need_no_correction(self):
        level = (np.arange(2000) + 0.5) / 2000
        edges = np.concatenate([[-8.0], ndtri(level), [8.0]])
        normal = Marginal(edges[:-1], edges[1:], np.concatenate([[0.0], level, [1.0]]))
        target = np.array([[1, 0.6], [0.6, 1]])
        assert_allclose(latent_correlation({"a": normal, "b": normal}, target), target, atol=2e-3)

    def test_slope_is_the_derivative(self):
        products = np.random.default_rng(0).normal(size=(3, 6))
        r, step = np.array([-0.5, 0.1, 0.9]), 1e-6
        above, below = _polynomial(products, r + step)[0], _polynomial(products, r - step)[0]
        assert_allclose(_polynomial(products, r)[1], (above - below) / (2 * step), rtol=1e-6)


class TestPopulation:
    def test_apportion(self):
        assert apportion(10, np.array([1.0, 1.0, 2.0])).tolist() == [3, 2, 5]
        assert apportion(5, np.array([0.0, 1.0]), at_least=1).tolist() == [1, 4]
        with pytest.raises(ValueError, match="total=1 is less than 1 for each of 2 items"):
            apportion(1, np.ones(2), at_least=1)

    def test_choose_items_is_exact_and_prefers_large_scores(self):
        random = np.random.default_rng(0)
        score, size = random.normal(size=500), random.integers(1, 60, 500)
        chosen = choose_items(score, size, int(size.sum()) // 2)
        assert size[chosen].sum() == size.sum() // 2
        assert np.corrcoef(chosen, score)[0, 1] > 0.75

    def test_choose_items_exchanges_one_at_the_end(self):
        chosen = choose_items(np.array([3.0, 2.0, 1.0]), np.array([2, 4, 5]), 7)
        assert chosen.tolist() == [True, False, True]
        chosen = choose_items(np.array([3.0, 2.0]), np.array([4, 5]), 5)
        assert chosen.tolist() == [False, True]

    def test_products_have_the_wanted_sizes_and_similar_rows(self):
        random = np.random.default_rng(0)
        features, senior = random.normal(size=(4000, 3)), random.random(4000) < 0.6
        popularity = random.integers(1, 30, 256)
        product = group_rows(features, senior, popularity, random)
        rows = np.bincount(product, minlength=256)
        assert rows.min() >= 1
        assert np.corrcoef(rows, popularity)[0, 1] > 0.95
        assert all(len(set(senior[product == p])) == 1 for p in range(256))
        shown = features[representative_rows(product, 256, random)][product]
        for j in range(3):
            assert np.corrcoef(shown[:, j], features[:, j])[0, 1] > 0.8

    def test_repeats_are_separated(self):
        random = np.random.default_rng(0)
        impression, parts = np.repeat(np.arange(300), 5), random.random(1500) < 0.5
        product = random.integers(0, 20, 1500) + 20 * parts
        separated = separate_repeats(product, impression, parts, random)
        assert len(set(zip(impression.tolist(), separated.tolist(), strict=True))) == 1500
        assert np.bincount(separated).tolist() == np.bincount(product).tolist()
        assert ((separated >= 20) == parts).all()


class TestFrame:
    def test_cross_table_is_exact_in_proportion(self, frame):
        counts = frame.groupby(["protected_attribute", "senior", "click"]).size().to_numpy()
        assert_allclose(counts, PUBLISHED.cross_table.ravel() * N_ROWS / PUBLISHED.n_rows, atol=1)

    def test_cross_table_is_exact_at_full_size(self):
        cell = np.repeat(np.arange(4), PUBLISHED.cross_table.sum(axis=2).ravel())
        assert _clicks_by_cell(cell, PUBLISHED.cross_table).tolist() == PUBLISHED.cross_table[..., 1].ravel().tolist()

    def test_users_impressions_and_products(self, frame):
        for name, count in PUBLISHED.distinct.items():
            assert frame[name].nunique() == round(count * N_ROWS / PUBLISHED.n_rows)
        user = ["protected_attribute", *(f"cat{i}" for i in range(6))]
        assert (frame.groupby("user_id")[user].nunique() == 1).all().all()
        impression = ["user_id", "displayrandom", "num16", "num26", "num50"]
        assert (frame.groupby("impression_id")[impression].nunique() == 1).all().all()
        product = ["senior", *(f"cat{i}" for i in range(6, 13))]
        assert (frame.groupby("product_id")[product].nunique() == 1).all().all()

    def test_rows_of_an_impression_have_mostly_different_ranks(self, frame):
        assert frame.duplicated(["impression_id", "rank"]).mean() < 0.1

    def test_no_product_twice_in_an_impression(self, frame):
        assert not frame.duplicated(["impression_id", "product_id"]).any()

    def test_rows_are_shuffled(self, frame):
        assert (frame["impression_id"].diff() == 0).mean() < 0.01

    def test_seed(self):
        first, again = (simulate_frame(1500, np.random.default_rng(3)) for _ in range(2))
        other = simulate_frame(1500, np.random.default_rng(4))
        assert first.equals(again)
        assert not first.equals(other)

    @pytest.mark.parametrize("n_rows", [1000, 1001, 4999])
    def test_any_size(self, n_rows):
        frame = simulate_frame(n_rows, np.random.default_rng(0))
        assert len(frame) == n_rows
        assert frame["click"].sum() == round(n_rows * 7489 / PUBLISHED.n_rows)


class TestReport:
    def test_columns(self, report):
        assert list(report) == ["kind", "column", "published", "generated", "difference", "scaled"]
        assert_allclose(report["difference"], report["generated"] - report["published"])
        pairs = 53 * 52 // 2
        assert report["kind"].value_counts()[["correlation", "mean", "cross table"]].tolist() == [pairs, 56, 8]

    @pytest.mark.parametrize(
        ("kind", "tolerance"),
        [
            ("rows", 0.001),
            ("distinct", 0.001),
            ("mean", 0.02),
            ("q25", 0.02),
            ("q50", 0.02),
            ("q75", 0.02),
            ("min", 1e-6),
            ("cross table", 0.02),
            ("click rate", 0.002),
        ],
    )
    def test_close_at_a_small_size(self, report, kind, tolerance):
        assert worst(report, kind) < tolerance

    def test_standard_deviations(self, report):
        """num16 has its maximum at 227 standard deviations: few rows cannot have it."""
        column = report[(report["kind"] == "std") & (report["column"] != "num16")]
        assert column["scaled"].abs().max() < 0.04

    def test_correlations_at_a_small_size(self, report):
        error = report.loc[report["kind"] == "correlation", "scaled"].abs()
        assert error.mean() < 0.025
        assert error.quantile(0.95) < 0.08
        of_click = report[(report["kind"] == "correlation") & report["column"].str.startswith("click ")]
        assert of_click["scaled"].abs().mean() < 0.01

    @pytest.mark.parametrize(
        "pair", ["senior cat5", "cat5 cat7", "rank num20", "cat9 cat10", "cat0 cat1", "rank click"]
    )
    def test_correlations_between_users_products_and_rows(self, report, pair):
        names = {pair, " ".join(reversed(pair.split()))}
        row = report[(report["kind"] == "correlation") & report["column"].isin(names)].iloc[0]
        assert abs(row["published"]) > 0.05
        assert abs(row["difference"]) < 0.035

    def test_needs_a_data_set(self, frame):
        with pytest.raises(TypeError, match="data is a DataFrame; it must come from simulate_fairjob"):
            fairjob_simulation_report(frame)
        with pytest.raises(ValueError, match="data lacks the column protected_attribute"):
            fairjob_simulation_report(simulate_fairjob(1000, drop_sensitive=True))


class TestDataset:
    def test_is_named_as_simulated(self):
        data = simulate_fairjob(1000)
        assert data.simulated
        assert data.description.startswith("SIMULATED")
        assert "simulated" in data.name
        assert "simulated" in repr(data)

    @pytest.mark.parametrize("n_rows", [999, 0, -1])
    def test_too_few_rows(self, n_rows):
        with pytest.raises(ValueError, match=f"n_rows={n_rows} must be at least 1000"):
            simulate_fairjob(n_rows)

    @pytest.mark.parametrize("n_rows", [1e4, "many", True])
    def test_no_number_of_rows(self, n_rows):
        with pytest.raises(TypeError, match="must be an integer of at least 1000"):
            simulate_fairjob(n_rows)

    def test_unknown_encoding(self):
        with pytest.raises(ValueError, match="encoding='one-hot' is unknown"):
            simulate_fairjob(1000, encoding="one-hot")

    def test_clicks_can_be_learnt_about_as_well_as_published(self):
        data = simulate_fairjob(120_000, 0, encoding="ordinal")
        train, test = slice(0, 90_000), slice(90_000, None)
        model = LGBMClassifier(n_estimators=30, num_leaves=7, n_jobs=1, verbosity=-1, class_weight="balanced")
        model.fit(data.features[train], data.target[train])
        score = model.predict_proba(data.features[test])[:, 1]
        assert 0.74 < roc_auc_score(data.target[test], score) < 0.87
