"""Imports go down the layers, as drawn in docs and design; read from the source, so that nothing needs to be run."""

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = "otfairboost"
SOURCE = Path(__file__).parents[1] / "src"

MATHS = {
    "transport", "losses", "criteria", "groups", "scores", "comparison", "plan", "penalty", "penalty_sum",
    "row_derivatives", "top_focus", "objective", "class_objective", "settings", "threads", "metrics", "weight_search",
    "binning", "columns", "attributes", "reduction",
}  # fmt: skip
ABOVE_MATHS = {
    "boosters", "estimators", "distributed", "selection", "tuning", "plots", "report", "workflow", "datasets",
    "benchmark", "demo", "cli",
}  # fmt: skip
TOP = {"benchmark", "demo", "cli"}
FORBIDDEN_LAYERS = {
    **dict.fromkeys(MATHS, ABOVE_MATHS),
    "boosters": {"estimators", "distributed", "plots", "report", "workflow", "datasets", "selection", "tuning", *TOP},
    "estimators": {"distributed", "plots", "report", "workflow", "datasets", "selection", "tuning", *TOP},
    "distributed": {"plots", "report", "workflow", "datasets", "selection", "tuning", *TOP},
    "selection": {"plots", "report", "workflow", "datasets", "tuning", *TOP},
    "tuning": {"plots", "report", "workflow", "datasets", *TOP},
    "plots": {"report", "workflow", "selection", "tuning", *TOP},
    "report": {"workflow", "datasets", "selection", "tuning", *TOP},
    "workflow": {"datasets", *TOP},
}
FORBIDDEN_EVERYWHERE = {"benchmark", "cli"}
ALLOWED = {"cli": {"benchmark"}}  # the command line starts it
# Who may import what; a package not named here may be imported anywhere.
CONFINED = {
    "lightgbm": {"boosters", "estimators", "benchmark"},  # the benchmark trains the plain one beside ours
    "xgboost": {"boosters", "estimators", "distributed"},
    "dask": {"distributed"},
    "distributed": {"distributed"},
    "matplotlib": {"plots"},
    "plotly": {"plots"},
    "optuna": {"tuning"},
    "typer": {"cli"},
    "onnxmltools": {"boosters"},
    "rich": {"cli", "selection", "tuning"},
}
CORE = {"numpy", "scipy", "sklearn", "lightgbm", "numba", "narwhals"}
OPTIONAL = ["pandas", "polars", "pyarrow", "matplotlib", "plotly", "typer", "rich", "optuna", "dask", "xgboost", "shap",
            "onnxmltools", "playwright"]  # fmt: skip


def modules_under(source):
    """Return {dotted name: path} of every module of the package."""
    found = {}
    for path in sorted((source / PACKAGE).rglob("*.py")):
        parts = path.relative_to(source).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imports_of(path):
    """Yield (module, imported name or None) of every import, at any depth and by ``require`` or ``import_module``."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from ((alias.name, None) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative imports cannot be followed"
            yield from ((node.module, alias.name) for alias in node.names)
        elif isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
            called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if called in {"require", "import_module", "__import__"} and isinstance(node.args[0].value, str):
                yield node.args[0].value, None


def dependencies(modules):
    """Return {module: set of modules and outside packages it imports}; a name that is a submodule counts as such."""
    graph = {}
    for name, path in modules.items():
        graph[name] = set()
        for module, attribute in imports_of(path):
            if module.split(".")[0] != PACKAGE:
                graph[name].add(module.split(".")[0])
            else:
                submodule = f"{module}.{attribute}"
                graph[name].add(submodule if submodule in modules else module)
    return graph


def layer_of(module):
    """Return the part of the package a module belongs to: the second of its dotted names ('' for the package)."""
    return [*module.split("."), ""][1] if module.split(".")[0] == PACKAGE else None


def violations(source):
    """Return what breaks the rules, as readable lines."""
    modules = modules_under(source)
    graph = dependencies(modules)
    broken = []
    for module, imported in graph.items():
        layer = layer_of(module)
        for other in sorted(imported):
            if other.split(".")[0] == PACKAGE:
                below = layer_of(other)
                forbidden = FORBIDDEN_LAYERS.get(layer, set()) | (
                    FORBIDDEN_EVERYWHERE - {layer} - ALLOWED.get(layer, set())
                )
                if below in forbidden:
                    broken.append(f"{module} imports {other}")
                if below == "" and layer in FORBIDDEN_LAYERS:  # the package itself imports the estimators
                    broken.append(f"{module} imports {other}")
            elif layer not in CONFINED.get(other, {layer}):
                broken.append(f"{module} imports {other}")
    broken += [f"cycle: {' -> '.join(cycle)}" for cycle in find_cycles(graph)]
    return broken


def find_cycles(graph):
    """Return a cycle through each module that can reach itself, found by depth-first search."""
    cycles, done = [], set()

    def visit(module, trail):
        if module in trail:
            cycles.append([*trail[trail.index(module) :], module])
        elif module not in done:
            for other in sorted(graph.get(module, ())):
                visit(other, [*trail, module])
            done.add(module)

    for module in sorted(graph):
        visit(module, [])
    return cycles


def test_the_source_keeps_to_the_layers():
    assert violations(SOURCE) == []


def test_all_maths_layers_were_seen():
    assert {layer_of(module) for module in modules_under(SOURCE)} >= MATHS


PLANTS = [
    ("losses", "from otfairboost.boosters.lightgbm import bake", "losses imports otfairboost.boosters.lightgbm"),
    ("scores", "def f():\n    from otfairboost import estimators", "scores imports otfairboost.estimators"),
    ("metrics", "import otfairboost.datasets", "metrics imports otfairboost.datasets"),
    ("groups", "from otfairboost import FairLGBMClassifier", "groups imports otfairboost"),
    ("boosters.lightgbm", "import otfairboost.estimators", "boosters.lightgbm imports otfairboost.estimators"),
    ("penalty", "import lightgbm as lgb", "penalty imports lightgbm"),
    ("demo", "import xgboost", "demo imports xgboost"),
    ("settings", "try:\n    import dask.array\nexcept ImportError: pass", "settings imports dask"),
    ("estimators.lightgbm", "from matplotlib import pyplot", "estimators.lightgbm imports matplotlib"),
    ("metrics", "plotly = require('plotly.express', 'plot')", "metrics imports plotly"),
    ("demo", "from rich.table import Table", "demo imports rich"),
    ("plots.curves", "from otfairboost.benchmark import run", "plots.curves imports otfairboost.benchmark"),
    ("demo", "from otfairboost.cli import main", "demo imports otfairboost.cli"),
    ("groups", "import otfairboost.losses", "cycle: otfairboost.groups -> otfairboost.losses -> otfairboost.groups"),
]


@pytest.mark.parametrize(("where", "line", "expected"), PLANTS, ids=[expected for *_, expected in PLANTS])
def test_the_check_finds_what_is_planted(tmp_path, where, line, expected):
    def write(module, text):
        path = (tmp_path / PACKAGE).joinpath(*module.split(".")).with_suffix(".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    clean = {"losses": "import otfairboost.groups", "cli": "import typer", "estimators.__init__": "import lightgbm"}
    for module, text in clean.items():
        write(module, text)
    assert violations(tmp_path) == []
    write(where, f"{clean.get(where, '')}\n{line}\n")
    assert violations(tmp_path) == [expected if expected.startswith("cycle") else f"{PACKAGE}.{expected}"]


def run_python(code):
    finished = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False)
    assert finished.returncode == 0, finished.stderr
    return json.loads(finished.stdout)


def test_importing_the_package_brings_in_nothing_but_its_core_dependencies():
    """LightGBM itself imports pandas and more where they are installed; what counts is what is added to that."""
    code = f"""
import json, sys
import lightgbm, narwhals, numba, scipy, sklearn
before = set(sys.modules)
import otfairboost
added = {{name.split(".")[0] for name in set(sys.modules) - before}}
print(json.dumps(sorted(added - set(sys.stdlib_module_names) - {CORE | {PACKAGE}!r})))
"""
    assert [name for name in run_python(code) if not name.startswith("_")] == []


def test_importing_the_package_needs_nothing_optional():
    code = f"""
import json, sys
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {OPTIONAL!r}:
            raise ModuleNotFoundError(name + " is not installed here", name=name)
sys.meta_path.insert(0, Absent())
import otfairboost, otfairboost.metrics, otfairboost.cli, otfairboost.plots, otfairboost.datasets
import otfairboost.selection, otfairboost.tuning, otfairboost.report, otfairboost.workflow
print(json.dumps([name for name in {OPTIONAL!r} if name in sys.modules]))
"""
    assert run_python(code) == []
