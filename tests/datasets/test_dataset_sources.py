import gzip
import hashlib
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from otfairboost.datasets.sources import ChecksumError, DataFile, MissingDataError, data_folder, fetch
from small_data_files import answer, serving, write

CONTENT = b"a,b\n1,2\n" * 1000
SUM = hashlib.sha256(CONTENT).hexdigest()


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch):
    monkeypatch.setenv("no_proxy", "127.0.0.1")


def data_file(address="http://127.0.0.1:9", **fields):
    return DataFile(**{"folder": "set", "name": "set.csv", "url": f"{address}/set.csv", **fields})


def files_below(folder):
    return sorted(path.name for path in folder.rglob("*") if path.is_file())


class TestFolder:
    def test_argument_wins(self, monkeypatch, tmp_path):
        monkeypatch.setenv("OTFAIRBOOST_DATA", "/elsewhere")
        assert data_folder(tmp_path) == tmp_path
        assert data_folder("~/x") == Path.home() / "x"

    def test_environment(self, monkeypatch, tmp_path):
        monkeypatch.setenv("OTFAIRBOOST_DATA", str(tmp_path))
        assert data_folder() == tmp_path

    @pytest.mark.parametrize(
        ("platform", "variable", "folder"),
        [
            ("linux", "XDG_CACHE_HOME", "{0}/otfairboost"),
            ("linux", None, "{home}/.cache/otfairboost"),
            ("darwin", None, "{home}/Library/Caches/otfairboost"),
            ("win32", "LOCALAPPDATA", "{0}/otfairboost"),
            ("win32", None, "{home}/AppData/Local/otfairboost"),
        ],
    )
    def test_user_cache(self, monkeypatch, tmp_path, platform, variable, folder):
        for name in ("OTFAIRBOOST_DATA", "XDG_CACHE_HOME", "LOCALAPPDATA"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setattr(sys, "platform", platform)
        if variable:
            monkeypatch.setenv(variable, str(tmp_path))
        assert data_folder() == Path(folder.format(tmp_path, home=Path.home()))


class TestLocal:
    @pytest.mark.parametrize("name", ["set.csv", "set.csv.gz", "other.csv", "other.csv.gz"])
    def test_every_name_is_found(self, tmp_path, name):
        path = write(tmp_path / "set" / name, CONTENT)
        found = fetch(data_file(alternatives=("other.csv",)), data_home=tmp_path, download=False)
        assert found == path

    @pytest.mark.parametrize("name", ["set.csv", "set.csv.gz"])
    def test_known_checksum_is_of_the_unpacked_content(self, tmp_path, name):
        path = write(tmp_path / "set" / name, CONTENT)
        assert fetch(data_file(sha256=SUM), data_home=tmp_path) == path
        write(path, CONTENT + b"more")
        with pytest.raises(ChecksumError) as caught:
            fetch(data_file(sha256=SUM), data_home=tmp_path)
        seen = hashlib.sha256(CONTENT + b"more").hexdigest()
        assert all(part in str(caught.value) for part in (str(path), SUM, seen))

    @pytest.mark.parametrize("broken", [slice(-20, None), slice(0, 4), slice(12, 40)], ids=["end", "head", "body"])
    def test_broken_gzip(self, tmp_path, broken):
        path = write(tmp_path / "set" / "set.csv.gz", CONTENT)
        packed = bytearray(gzip.compress(CONTENT))
        packed[broken] = b"" if broken.stop is None else bytes([255]) * (broken.stop - broken.start)
        path.write_bytes(packed)
        with pytest.raises(ChecksumError, match="not a whole gzip file"):
            fetch(data_file(sha256=SUM), data_home=tmp_path)

    def test_absent(self, tmp_path):
        file = data_file("https://example.org")
        with pytest.raises(MissingDataError) as caught:
            fetch(file, data_home=tmp_path, download=False)
        for part in ("set.csv", str(tmp_path / "set"), file.url, "set.csv.gz", "OTFAIRBOOST_DATA", "download=False"):
            assert part in str(caught.value)
        assert files_below(tmp_path) == []


class TestDownload:
    def test_once(self, tmp_path):
        with serving(answer(CONTENT)) as (address, requested):
            file = data_file(address, sha256=SUM)
            path = fetch(file, data_home=tmp_path)
            assert fetch(file, data_home=tmp_path) == path == tmp_path / "set" / "set.csv"
        assert path.read_bytes() == CONTENT
        assert requested == ["/set.csv"]
        assert files_below(tmp_path) == ["set.csv"]

    def test_unknown_checksum_is_recorded_and_checked_later(self, tmp_path):
        with serving(answer(CONTENT)) as (address, _):
            path = fetch(data_file(address), data_home=tmp_path)
        assert files_below(tmp_path) == ["set.csv", "set.csv.sha256"]
        assert path.with_name("set.csv.sha256").read_text().strip() == SUM
        path.write_bytes(b"changed")
        with pytest.raises(ChecksumError, match=SUM):
            fetch(data_file(), data_home=tmp_path)

    def test_changed_source_leaves_nothing(self, tmp_path):
        with serving(answer(b"other")) as (address, _), pytest.raises(ChecksumError) as caught:
            fetch(data_file(address, sha256=SUM), data_home=tmp_path)
        assert SUM in str(caught.value)
        assert hashlib.sha256(b"other").hexdigest() in str(caught.value)
        assert files_below(tmp_path) == []

    @pytest.mark.parametrize(
        "respond", [answer(CONTENT, announced=len(CONTENT) + 1), answer(b"gone", status=404)], ids=["cut off", "404"]
    )
    def test_failure_leaves_nothing_and_says_what_to_do(self, tmp_path, respond):
        with serving(respond) as (address, _), pytest.raises(MissingDataError) as caught:
            fetch(data_file(address), data_home=tmp_path)
        assert f"{address}/set.csv" in str(caught.value)
        assert str(tmp_path / "set") in str(caught.value)
        assert files_below(tmp_path) == []

    def test_no_network(self, tmp_path):
        with pytest.raises(MissingDataError, match="cannot be downloaded"):
            fetch(data_file(), data_home=tmp_path)
        assert list(tmp_path.iterdir()) == []

    def test_an_old_file_survives_a_failed_download_of_another(self, tmp_path):
        kept = write(tmp_path / "set" / "kept.csv", CONTENT)
        with serving(answer(b"gone", status=500)) as (address, _), pytest.raises(MissingDataError):
            fetch(data_file(address), data_home=tmp_path)
        assert kept.read_bytes() == CONTENT

    @pytest.mark.skipif(sys.platform == "win32", reason="kills with a POSIX signal")
    def test_kill_leaves_no_half_file(self, tmp_path):
        sent, over = threading.Event(), threading.Event()

        def respond(handler):
            handler.send_response(200)
            handler.send_header("Content-Length", str(1 << 24))
            handler.end_headers()
            handler.wfile.write(bytes(3 << 20))
            handler.wfile.flush()
            sent.set()
            over.wait(30)

        code = (
            "import sys; from otfairboost.datasets.sources import DataFile, fetch; "
            "fetch(DataFile('set', 'set.csv', sys.argv[1]), data_home=sys.argv[2])"
        )
        with serving(respond) as (address, _):
            child = subprocess.Popen([sys.executable, "-c", code, f"{address}/set.csv", str(tmp_path)])
            try:
                assert sent.wait(60)
                folder = tmp_path / "set"
                deadline = time.monotonic() + 30
                while not (folder.is_dir() and any(p.stat().st_size for p in folder.iterdir())):
                    assert time.monotonic() < deadline
                    time.sleep(0.02)
                os.kill(child.pid, signal.SIGKILL)
                child.wait(30)
            finally:
                child.kill()
                child.wait()
                over.set()
        assert not (folder / "set.csv").exists()
        with serving(answer(CONTENT)) as (address, _):
            assert fetch(data_file(address), data_home=tmp_path).read_bytes() == CONTENT
