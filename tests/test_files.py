import os
import stat

import pytest

from otfairboost.files import replacing


def test_writes_into_a_new_folder(tmp_path):
    target = tmp_path / "new" / "file.txt"
    with replacing(target) as path:
        path.write_text("whole")
        assert not target.exists()
    assert target.read_text() == "whole"
    assert list(target.parent.iterdir()) == [target]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_failure_leaves_the_old_file_and_nothing_else(tmp_path, error):
    target = tmp_path / "file.txt"
    target.write_text("old")

    def write():
        with replacing(target) as path:
            path.write_text("half")
            raise error

    with pytest.raises(error):
        write()
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


@pytest.mark.skipif(os.name == "nt", reason="POSIX permissions")
def test_permissions_are_those_of_an_ordinary_file(tmp_path):
    ordinary, replaced = tmp_path / "ordinary", tmp_path / "replaced"
    ordinary.write_text("")
    with replacing(replaced) as path:
        path.write_text("")
    assert stat.S_IMODE(replaced.stat().st_mode) == stat.S_IMODE(ordinary.stat().st_mode)
