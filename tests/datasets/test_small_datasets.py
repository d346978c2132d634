"""Adult, Communities and Crime, COMPAS and law school, on small files of their formats."""

import hashlib

import numpy as np
import pytest

from otfairboost.datasets import (
    ChecksumError,
    Dataset,
    MissingDataError,
    adult,
    communities_crime,
    load_adult,
    load_communities_crime,
    load_compas,
    load_law_school,
)
from small_data_files import LAW_TEXT, adult_text, answer, communities_text, compas_text, serving, write


@pytest.fixture
def home(tmp_path, monkeypatch):
    """Return a folder that holds all four; the small files have other checksums than the public ones."""
    for module, names in ((adult, ("TRAIN", "TEST")), (communities_crime, ("FILE",))):
        for name in names:
            monkeypatch.setattr(module, name, getattr(module, name)._replace(sha256=None))
    write(tmp_path / "adult" / "adult.data.gz", adult_text(30))
    write(tmp_path / "adult" / "adult.test", adult_text(10, test=True, seed=1))
    write(tmp_path / "communities_crime" / "communities.data", communities_text(20))
    write(tmp_path / "compas" / "compas_two_years.csv.gz", compas_text())
    write(tmp_path / "law_school" / "law_data.csv", LAW_TEXT)
    return tmp_path


LOADERS = [load_adult, load_communities_crime, load_compas, load_law_school]


@pytest.mark.parametrize("load", LOADERS)
def test_what_every_loader_returns(home, load):
    data = load(data_home=home, download=False)
    assert isinstance(data, Dataset)
    assert len(data.features) == len(data.target) == len(data.sensitive_features) > 0
    assert data.features.index.equals(data.target.index)
    assert not data.simulated
    assert data.task == ("regression" if load in (load_communities_crime, load_law_school) else "classification")
    for text in (data.name, data.description, data.preprocessing, data.licence, data.citation, data.source):
        assert text
    assert all(np.issubdtype(dtype, np.number) for dtype in data.features.dtypes)
    assert data.target.name not in data.features
    assert data.name in repr(data)
    with pytest.raises(AttributeError):
        data.name = "other"


@pytest.mark.parametrize("load", LOADERS)
def test_absent_file(tmp_path, load):
    with pytest.raises(MissingDataError, match="download=False"):
        load(data_home=tmp_path, download=False)


@pytest.mark.parametrize("load", [load_adult, load_compas, load_law_school])
def test_unknown_encoding(home, load):
    with pytest.raises(ValueError, match="encoding='binary' is unknown"):
        load(data_home=home, encoding="binary")


@pytest.mark.parametrize("load", LOADERS)
def test_unknown_sensitive_attribute(home, load):
    with pytest.raises(ValueError, match="drop_sensitive='height' is unknown; allowed are"):
        load(data_home=home, drop_sensitive=["height"])


class TestAdult:
    def test_rows_of_both_files(self, home):
        data = load_adult(data_home=home, encoding="category")
        assert data.features.shape == (40, 13)
        assert data.target.sum() == 8 + 3
        assert "fnlwgt" not in data.features
        assert (data.sample_weight == 77516).all()
        assert data.features["workclass"].isna().sum() == 8
        assert set(data.sensitive_features["sex"]) == {"Male", "Female"}

    def test_drop_sensitive(self, home):
        data = load_adult(data_home=home, encoding="category", drop_sensitive=["sex"])
        assert "sex" not in data.features
        assert "race" in data.features
        assert list(data.sensitive_features) == ["sex", "race"]

    def test_one_hot_names_suit_boosters(self, home):
        names = load_adult(data_home=home).features.columns
        assert "native-country_Outlying-US_Guam-USVI-etc_" in names
        assert "workclass_missing" in names

    def test_strange_label(self, home):
        write(home / "adult" / "adult.test", adult_text(10, test=True).replace("<=50K.", "poor"))
        with pytest.raises(ValueError, match="holds the labels poor; allowed are"):
            load_adult(data_home=home)

    def test_changed_file(self, tmp_path):
        write(tmp_path / "adult" / "adult.data", adult_text(30))
        with pytest.raises(ChecksumError, match=r"adult\.data has changed"):
            load_adult(data_home=tmp_path)

    def test_download(self, tmp_path, monkeypatch):
        monkeypatch.setenv("no_proxy", "127.0.0.1")
        texts = {"/adult.data": adult_text(30).encode(), "/adult.test": adult_text(10, test=True).encode()}
        with serving(lambda handler: answer(texts[handler.path])(handler)) as (address, requested):
            for name, path in (("TRAIN", "/adult.data"), ("TEST", "/adult.test")):
                known = hashlib.sha256(texts[path]).hexdigest()
                monkeypatch.setattr(adult, name, getattr(adult, name)._replace(url=address + path, sha256=known))
            first = load_adult(data_home=tmp_path)
            again = load_adult(data_home=tmp_path)
        assert len(requested) == 2
        assert first.features.equals(again.features)


class TestCommunitiesCrime:
    def test_columns_with_missing_values_are_dropped(self, home):
        data = load_communities_crime(data_home=home)
        assert data.features.shape == (20, 120)
        assert not data.features.isna().any().any()
        assert not {"state", "communityname", "fold", "LemasSwornFT", "OtherPerCap"} & set(data.features)

    def test_or_kept(self, home):
        data = load_communities_crime(data_home=home, missing="keep")
        assert data.features.shape == (20, 122)
        assert data.features["LemasSwornFT"].isna().sum() == 19

    def test_group_starts_at_the_threshold(self, home):
        groups = load_communities_crime(data_home=home).sensitive_features["black_share"]
        assert groups[:2].tolist() == ["high", "low"]
        assert load_communities_crime(data_home=home, threshold=0.22).sensitive_features["black_share"][1] == "high"

    def test_drop_sensitive(self, home):
        assert "racepctblack" not in load_communities_crime(data_home=home, drop_sensitive=True).features

    def test_bad_arguments(self, home):
        with pytest.raises(ValueError, match="missing='impute' is unknown; allowed are 'drop', 'keep'"):
            load_communities_crime(data_home=home, missing="impute")
        with pytest.raises(ValueError, match="threshold=23 must be between 0 and 1"):
            load_communities_crime(data_home=home, threshold=23)

    def test_other_table(self, home):
        write(home / "communities_crime" / "communities.data", communities_text(5, n_columns=127))
        with pytest.raises(ValueError, match="has 127 columns; Communities and Crime has 128"):
            load_communities_crime(data_home=home)


class TestCompas:
    def test_filter(self, home):
        data = load_compas(data_home=home, encoding="category")
        assert len(data.features) == 3
        assert data.target.tolist() == [0, 1, 1]
        assert len(load_compas(data_home=home, propublica_filter=False).features) == 8

    def test_nothing_gives_the_target_away(self, home):
        names = set(load_compas(data_home=home, encoding="ordinal").features)
        assert not names & {"is_recid", "decile_score", "score_text", "days_b_screening_arrest"}

    def test_age_goes_with_its_groups(self, home):
        names = set(load_compas(data_home=home, drop_sensitive=True, encoding="ordinal").features)
        assert not names & {"age", "age_cat", "sex", "race"}

    def test_absent_columns(self, home):
        write(home / "compas" / "compas_two_years.csv.gz", "sex,age\nMale,30\n")
        with pytest.raises(
            ValueError, match=r"compas_two_years.csv.gz lacks the columns juv_fel_count, .*it has sex, age"
        ):
            load_compas(data_home=home)


class TestLawSchool:
    def test_rows(self, home):
        data = load_law_school(data_home=home, encoding="category")
        assert list(data.features) == ["LSAT", "UGPA", "race", "sex", "region_first"]
        assert data.target.tolist() == [-0.98, 0.09, -0.35]
        assert data.sensitive_features["sex"].tolist() == ["female", "male", "male"]

    def test_strange_sex(self, home):
        write(home / "law_school" / "law_data.csv", LAW_TEXT.replace("Black,2", "Black,3"))
        with pytest.raises(ValueError, match="other values of sex"):
            load_law_school(data_home=home)
