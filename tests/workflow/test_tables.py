import gzip
import hashlib

import pandas as pd
import pytest

from otfairboost.workflow import read_table, write_table
from workflow.files import make_loans


@pytest.mark.parametrize("name", ["loans.csv", "loans.tsv", "loans.csv.gz", "loans.parquet"])
def test_what_is_written_is_read(tmp_path, name):
    frame = make_loans(50)
    write_table(frame, tmp_path / name)
    table = read_table(tmp_path / name)
    pd.testing.assert_frame_equal(table.frame, frame, check_dtype=False)
    assert table.sha256 == hashlib.sha256((tmp_path / name).read_bytes()).hexdigest()
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_text_columns_and_byte_order_marks(tmp_path):
    (tmp_path / "a.csv").write_text("\ufeffzip,x\n01,1\n02,2\n", encoding="utf-8")
    frame = read_table(tmp_path / "a.csv", text=["zip", "absent"]).frame
    assert frame["zip"].tolist() == ["01", "02"]
    assert frame["x"].tolist() == [1, 2]


BAD = [
    ("absent.csv", None, "absent.csv does not exist; check the name"),
    ("empty.csv", b"", "empty.csv is empty; give a file with a header and rows"),
    ("header.csv", b"a,b\n", "header.csv has no rows below its header"),
    ("blank.csv", b"\n\n", "blank.csv has no header"),
    ("binary.csv", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "binary.csv is a binary file, not text"),
    ("latin.csv", "a,b\ncafé,1\n".encode("latin-1"), r"latin.csv is not UTF-8 text \(byte 7\)"),
    ("twice.csv", b"a,b,a\n1,2,3\n", "twice.csv has more than one column 'a'; rename or drop one"),
    ("ragged.csv", b"a,b\n1,2\n1,2,3,4\n", "ragged.csv cannot be read as a table"),
    ("cut.csv.gz", gzip.compress(b"a,b\n" + b"1,2\n" * 99999)[:50], "cut.csv.gz cannot be read as a table"),
    ("plain.csv.gz", b"a,b\n1,2\n", "plain.csv.gz cannot be read as a table"),
    ("cut.parquet", b"PAR1 and nothing else", "cut.parquet is not a whole Parquet file"),
]


@pytest.mark.parametrize(("name", "content", "message"), BAD, ids=[name for name, *_ in BAD])
def test_bad_files(tmp_path, name, content, message):
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(ValueError, match=message) as error:
        read_table(tmp_path / name)
    assert "\n" not in str(error.value)


def test_a_folder_and_unknown_endings(tmp_path):
    with pytest.raises(ValueError, match="is a folder; give a"):
        read_table(tmp_path)
    with pytest.raises(ValueError, match=r"does not end in .csv"):
        write_table(make_loans(5), tmp_path / "loans.xlsx")


def test_absent_columns_are_named(tmp_path):
    write_table(make_loans(5), tmp_path / "loans.csv")
    table = read_table(tmp_path / "loans.csv")
    with pytest.raises(ValueError, match=r"--target names income2, which .*loans.csv lacks; it has age, income"):
        table.column("income2", "--target")
