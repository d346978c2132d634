"""A small version of the cross-validated table, on a file of the same form as the real one."""

import numpy as np

from benchmarks import tennessee
from small_data_files import write


def acs_text(n_rows):
    """Rows with coarse codes, as in the merged file; income depends on schooling, hours and sex."""
    random = np.random.default_rng(0)
    schooling, hours, sex = (
        random.integers(10, 25, n_rows),
        random.integers(10, 60, n_rows),
        random.integers(1, 3, n_rows),
    )
    columns = {
        "AGEP": random.integers(17, 80, n_rows), "COW": random.integers(1, 9, n_rows), "SCHL": schooling,
        "MAR": random.integers(1, 3, n_rows), "OCCP": random.integers(1, 9, n_rows) * 100,
        "POBP": random.integers(1, 9, n_rows), "RELP": random.integers(0, 18, n_rows), "WKHP": hours, "SEX": sex,
        "RAC1P": random.choice([1, 2, 3, 5], n_rows, p=[0.4, 0.3, 0.15, 0.15]),
        "PINCP": (schooling / 5 + hours / 15 - sex + random.normal(size=n_rows) > 5).astype(int),
    }  # fmt: skip
    rows = zip(*columns.values(), strict=True)
    return "\n".join([",".join(columns), *(",".join(map(str, row)) for row in rows)]) + "\n"


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
