"""A small version of the cross-validated table, on a file of the same form as the real one."""

from benchmarks import tennessee
from small_data_files import acs_text, write


def test_every_task_and_setting_runs_and_is_written(tmp_path, capsys):
    write(tmp_path / "data" / "acsincome_tn" / "acsincome_tn_2018.csv.gz", acs_text(2000))
    page = tmp_path / "page.md"
    rows = tennessee.main(["--small", "--folds", "2", "--data-home", str(tmp_path / "data"), "--output", str(page)])
    assert len(rows) == sum(len(task.settings) for task in tennessee.TASKS.values())
    text = page.read_text()
    for row in rows:
        assert f"| {row.name} |" in text
    for task in tennessee.TASKS.values():
        assert f"## {task.title}" in text
        assert all(f"| {label} |" in text for label, *_ in task.paper)
