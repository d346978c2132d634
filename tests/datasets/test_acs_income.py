import sys
from io import StringIO
from types import SimpleNamespace

import pandas as pd
import pytest

from otfairboost.datasets import MissingDataError, load_acs_income
from small_data_files import PERSON_TEXT, PREPARED_TEXT, write, write_zip

PERSONS = PERSON_TEXT.format(relation="RELP")


@pytest.fixture
def prepared(tmp_path):
    write(tmp_path / "acsincome_tn" / "acsincome_tn_2018.csv.gz", PREPARED_TEXT)
    return tmp_path


@pytest.fixture
def census(tmp_path):
    write_zip(tmp_path / "acs_pums/2018/1-Year/csv_ptn.zip", {"psam_p47.csv": PERSONS, "readme.pdf": "x"})
    return tmp_path


def test_prepared_table(prepared):
    data = load_acs_income(data_home=prepared, encoding="ordinal", download=False)
    assert list(data.features) == ["AGEP", "COW", "SCHL", "MAR", "OCCP", "POBP", "RELP", "WKHP", "SEX", "RAC1P"]
    assert data.target.tolist() == [1, 1, 0, 0, 0]
    assert data.sensitive_features["SEX"].tolist() == ["male", "male", "female", "female", "female"]
    assert data.sensitive_features["RAC1P"].tolist() == ["white", "black", "asian", "other", "other"]
    assert data.sample_weight is None
    assert "merged codes" in data.preprocessing


def test_census_file_is_filtered(census):
    data = load_acs_income(data_home=census, encoding="ordinal", download=False)
    assert data.target.tolist() == [1, 0, 0, 1, 1]
    assert data.sample_weight.tolist() == [10, 11, 12, 13, 14]
    assert data.features["OCCP"].tolist() == [20, 1750, 5740, 5740, 5740]
    assert data.features["COW"].tolist() == [1, 0, 1, 1, 1]
    assert data.sensitive_features["RAC1P"].tolist() == ["white", "black", "other", "asian", "other"]
    assert "merged codes" not in data.preprocessing


def test_ethnicity(prepared, census):
    expected = {
        "separate": ["white", "black", "asian", "native", "other"],
        "original": [1, 2, 3, 4, 5],
    }
    for ethnicity, groups in expected.items():
        data = load_acs_income(data_home=prepared, ethnicity=ethnicity)
        assert data.sensitive_features["RAC1P"].tolist() == groups
    (prepared / "acsincome_tn" / "acsincome_tn_2018.csv.gz").unlink()
    data = load_acs_income(data_home=census, ethnicity="separate")
    assert data.sensitive_features["RAC1P"].tolist() == ["white", "black", "native", "asian", "other"]


def test_prepared_table_with_the_original_codes(tmp_path):
    text = PREPARED_TEXT.replace("2,5740,47,0,40,2,5,0", "5,5740,47,0,40,2,9,0")
    write(tmp_path / "acsincome_tn" / "acsincome_tn_2018.csv", text)
    data = load_acs_income(data_home=tmp_path)
    assert data.sensitive_features["RAC1P"].tolist() == ["white", "black", "other", "other", "other"]


@pytest.mark.parametrize("folder", ["acs_pums/2018/1-Year", "2018/1-Year"])
def test_files_of_the_folktables_package(tmp_path, folder):
    write(tmp_path / folder / "psam_p47.csv", PERSONS)
    assert load_acs_income(data_home=tmp_path, download=False).target.tolist() == [1, 0, 0, 1, 1]


def test_file_names_and_columns_of_other_years(tmp_path):
    write_zip(tmp_path / "acs_pums/2016/1-Year/csv_ptn.zip", {"ss16ptn.csv": PERSONS})
    assert len(load_acs_income(year=2016, data_home=tmp_path).target) == 5
    write_zip(tmp_path / "acs_pums/2021/1-Year/csv_ptn.zip", {"psam_p47.csv": PERSON_TEXT.format(relation="RELSHIPP")})
    assert "RELSHIPP" in load_acs_income(year=2021, data_home=tmp_path, encoding="ordinal").features


def test_several_states(census):
    write_zip(census / "acs_pums/2018/1-Year/csv_pca.zip", {"psam_p06.csv": PERSONS})
    data = load_acs_income(states=["TN", "CA"], data_home=census, encoding="ordinal")
    assert data.identifiers["state"].tolist() == ["TN"] * 5 + ["CA"] * 5
    assert data.features.index.tolist() == data.target.index.tolist() == list(range(10))


def test_merged_and_original_codes_do_not_mix(prepared):
    write_zip(prepared / "acs_pums/2018/1-Year/csv_pca.zip", {"psam_p06.csv": PERSONS})
    with pytest.raises(ValueError, match="the files of TN have merged codes"):
        load_acs_income(states=["TN", "CA"], data_home=prepared)


def test_one_hot_is_the_default_and_keeps_the_sensitive_attributes(prepared):
    names = load_acs_income(data_home=prepared).features.columns
    assert {"SEX_1", "SEX_2", "RAC1P_4", "OCCP_5740", "AGEP"} <= set(names)
    dropped = load_acs_income(data_home=prepared, drop_sensitive=["RAC1P"]).features.columns
    assert "SEX_1" in dropped
    assert not [name for name in dropped if name.startswith("RAC1P")]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"states": "XX"}, "states='XX' is unknown; allowed are 'AL', 'AK'"),
        ({"states": ["TN", "tn"]}, "states='tn' is unknown"),
        ({"states": []}, "states is empty"),
        ({"states": ["TN", "TN"]}, "names a state twice"),
        ({"year": 2020}, "year=2020 is unknown; allowed are 2014, "),
        ({"source": "web"}, "source='web' is unknown; allowed are 'census', 'folktables'"),
        ({"ethnicity": "all"}, "ethnicity='all' is unknown; allowed are 'pooled'"),
        ({"encoding": "dummy"}, "encoding='dummy' is unknown"),
        ({"drop_sensitive": ["AGE"]}, "drop_sensitive='AGE' is unknown; allowed are 'SEX', 'RAC1P'"),
    ],
)
def test_bad_arguments(prepared, arguments, message):
    with pytest.raises(ValueError, match=message):
        load_acs_income(data_home=prepared, **arguments)


def test_bad_files(tmp_path):
    path = write(tmp_path / "acs_pums/2018/1-Year/csv_ptn.zip", "no zip")
    with pytest.raises(ValueError, match=r"csv_ptn\.zip is no zip file"):
        load_acs_income(data_home=tmp_path)
    write_zip(path, {"a.csv": "", "b.csv": ""})
    with pytest.raises(ValueError, match="holds 2 csv files"):
        load_acs_income(data_home=tmp_path)
    write_zip(path, {"a.csv": PERSONS.replace("OCCP", "JOB")})
    with pytest.raises(ValueError, match="lacks the columns OCCP"):
        load_acs_income(data_home=tmp_path)
    write(tmp_path / "acsincome_tn" / "acsincome_tn_2018.csv", PREPARED_TEXT.replace("66,1,1,1", "66,1,1,70000"))
    with pytest.raises(ValueError, match="PINCP holds other values than 0 and 1"):
        load_acs_income(data_home=tmp_path)


def test_absent_file_says_what_to_put_where(tmp_path):
    with pytest.raises(MissingDataError) as caught:
        load_acs_income(states="CA", data_home=tmp_path, download=False)
    for part in ("csv_pca.zip", str(tmp_path / "acs_pums/2018/1-Year"), "www2.census.gov"):
        assert part in str(caught.value)


class TestFolktables:
    def test_its_data(self, tmp_path, monkeypatch):
        asked = {}

        class Source:
            def __init__(self, **arguments):
                asked.update(arguments)

            def get_data(self, states, download):
                asked.update(states=states, download=download)
                return pd.read_csv(StringIO(PERSONS))

        monkeypatch.setitem(sys.modules, "folktables", SimpleNamespace(ACSDataSource=Source))
        data = load_acs_income(data_home=tmp_path, source="folktables", download=False)
        assert data.target.tolist() == [1, 0, 0, 1, 1]
        assert asked == {
            "survey_year": "2018",
            "horizon": "1-Year",
            "survey": "person",
            "root_dir": str(tmp_path / "acs_pums"),
            "states": ["TN"],
            "download": False,
        }

    def test_not_installed(self, tmp_path, monkeypatch):
        monkeypatch.setitem(sys.modules, "folktables", None)
        with pytest.raises(ImportError, match=r"pip install 'otfairboost\[folktables\]'"):
            load_acs_income(data_home=tmp_path, source="folktables")
