import gzip

import numpy as np
import pandas as pd
import pytest

from otfairboost.benchmark.tasks import get_task
from otfairboost.datasets import MissingDataError, fairjob_simulation_report, load_fairjob, simulate_fairjob
from otfairboost.datasets.fairjob_simulation.generator import simulate_frame
from otfairboost.datasets.fairjob_simulation.statistics import published_statistics


@pytest.fixture(scope="module")
def frame():
    return simulate_frame(2000, np.random.default_rng(0))


@pytest.fixture
def home(tmp_path, frame):
    (tmp_path / "fairjob").mkdir()
    frame.to_csv(tmp_path / "fairjob" / "fairjob.csv.gz", index=False)
    return tmp_path


def test_real_file(home, frame):
    data = load_fairjob(data_home=home, download=False)
    assert data.features.shape == (2000, 52)
    assert not data.simulated
    assert data.target.tolist() == frame["click"].tolist()
    assert str(data.features["cat3"].dtype) == "category"
    assert str(data.features["num20"].dtype) == "float32"
    assert list(data.identifiers) == ["user_id", "impression_id", "product_id"]
    assert set(data.sensitive_features["protected_attribute"]) == {"female", "male"}
    assert "NC" in data.licence


def test_reads_what_the_simulation_gives(home):
    loaded, simulated = load_fairjob(data_home=home), simulate_fairjob(2000, 0)
    pd.testing.assert_frame_equal(loaded.features, simulated.features, check_dtype=False, check_categorical=False)
    assert simulated.simulated
    assert len(fairjob_simulation_report(loaded)) == len(fairjob_simulation_report(simulated))


def test_options(home):
    data = load_fairjob(data_home=home, encoding="ordinal", drop_sensitive=True)
    assert data.features.shape == (2000, 51)
    assert "protected_attribute" not in data.features
    assert str(data.features["cat3"].dtype) == "int32"
    with pytest.raises(ValueError, match="encoding='one-hot' is unknown; allowed are 'category', 'ordinal'"):
        load_fairjob(data_home=home, encoding="one-hot")


def test_absent_file_points_to_the_simulation(tmp_path):
    with pytest.raises(MissingDataError, match=r"fairjob.csv.gz is not in .* simulate_fairjob\(\)"):
        load_fairjob(data_home=tmp_path, download=False)


def test_absent_columns(tmp_path):
    path = tmp_path / "fairjob" / "fairjob.csv.gz"
    path.parent.mkdir()
    path.write_bytes(gzip.compress(b"click,rank\n0,1\n"))
    with pytest.raises(ValueError, match="lacks the columns protected_attribute"):
        load_fairjob(data_home=tmp_path)


def test_frame_has_the_published_columns(frame):
    assert tuple(frame.columns) == published_statistics().columns
    assert frame.shape == (2000, 56)
    assert not frame.isna().any().any()
    assert not frame.duplicated().any()


def test_the_benchmark_simulates_what_is_not_there_and_says_so(tmp_path, home):
    (tmp_path / "empty").mkdir()
    simulated = get_task("fairjob_dp").load(tmp_path / "empty", max_rows=2000)
    assert simulated.simulated
    assert "SIMULATED" in simulated.description
    assert len(simulated.y) == 2000
    assert not get_task("fairjob_dp").load(home).simulated
