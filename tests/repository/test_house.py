"""What keeps the code one house: a metric is one file, investigations answer for themselves, nothing is too long."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest
from code_lines import find_docstrings

from fairtest.metrics.choice import BUILT_IN

ROOT = Path(__file__).parents[2]
SOURCES = ROOT / "src" / "fairtest"
METRICS = {metric.name for metric in BUILT_IN} | {"REG"}
INVESTIGATIONS = {"Investigation", "Testing", "Discovery", "ErrorProfiling", "LabelQuestion"}
LONGEST_FUNCTION, LONGEST_SOURCE, LONGEST_TEST = 60, 450, 600
FOLDERS = {"src": LONGEST_SOURCE, "packages": LONGEST_SOURCE, "tests": LONGEST_TEST}
FOLDERS |= dict.fromkeys(("benchmarks", "calibration", "examples"), LONGEST_TEST)
CORE = ["data", "engine", "inference", "investigations", "metrics", "model", "pipeline", "search", "workspace"]
IRREGULAR = {"asked", "drawn", "found", "given", "held", "kept", "known", "laid_out", "put", "said", "seen", "told"}
NOUNS = {"divided", "pooled", "signed", "squared", "undivided"}
"""Names of procedures and of errors, and two ways to make a source or a holdout."""


@cache
def parse(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def sources_outside(folder: str) -> list[Path]:
    return [path for path in sorted(SOURCES.rglob("*.py")) if SOURCES / folder not in path.parents]


def metrics_named(tree: ast.Module) -> set[tuple[int, str]]:
    """Return where code names a metric: as a text, or by what ``metrics/`` calls so."""
    texts = {id(each.value) for each in find_docstrings(tree)}
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and id(node) not in texts:
            found.add((node.lineno, str(node.value)))
        elif isinstance(node, ast.Attribute):
            found.add((node.lineno, node.attr))
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("fairtest.metrics"):
            found |= {(node.lineno, name.name) for name in node.names}
    return {(line, name) for line, name in found if name in METRICS}


def kinds_asked(tree: ast.Module) -> set[tuple[int, str]]:
    """Return where code asks whether something is one of the investigations."""
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)]
    return {
        (call.lineno, name.id)
        for call in calls
        if getattr(call.func, "id", "") in ("isinstance", "issubclass")
        for name in ast.walk(call.args[1])
        if isinstance(name, ast.Name) and name.id in INVESTIGATIONS
    }


def participles(tree: ast.Module) -> set[tuple[int, str]]:
    """Return the functions that a bare participle names; a property may be an adjective."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and not any("property" in ast.unparse(d) for d in node.decorator_list):
            name = node.name.strip("_")
            if (re.fullmatch(r"[a-z]+ed", name) or name in IRREGULAR) and name not in NOUNS:
                found.add((node.lineno, node.name))
    return found


def functions_over(tree: ast.Module, most: int) -> set[tuple[int, str]]:
    return {
        (node.lineno, node.name)
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and len(set(range(node.lineno, (node.end_lineno or node.lineno) + 1)) - documentation(node)) > most
    }


def documentation(node: ast.FunctionDef | ast.AsyncFunctionDef) -> set[int]:
    """Return the lines of a function's docstring, which may be as long as it needs."""
    first = node.body[0]
    return set(range(first.lineno, (first.end_lineno or 0) + 1)) if ast.get_docstring(node) else set()


def places(path: Path, found: set[tuple[int, str]]) -> list[str]:
    return [f"{path.relative_to(ROOT)}:{line} {name}" for line, name in sorted(found)]


def test_no_metric_is_named_outside_metrics() -> None:
    named = [p for path in sources_outside("metrics") for p in places(path, metrics_named(parse(path)))]
    assert named == [], "let the metric's declaration (metrics/registry.py) say what is needed here"


def test_nobody_asks_what_kind_an_investigation_is() -> None:
    asked = [p for path in sources_outside("investigations") for p in places(path, kinds_asked(parse(path)))]
    assert asked == [], "give the investigation a property or method that says what is needed here"


def test_functions_of_core_and_service_say_what_they_do() -> None:
    paths = [path for folder in (*CORE, "service") for path in sorted((SOURCES / folder).rglob("*.py"))]
    named = [p for path in paths if "reading" not in path.parts for p in places(path, participles(parse(path)))]
    assert named == [], "name a function by a verb and its object: count_cells, not counted"


@pytest.mark.parametrize("folder", FOLDERS)
def test_files_and_functions_are_short(folder: str) -> None:
    long = []
    for path in sorted((ROOT / folder).rglob("*.py")):
        number = len(path.read_text(encoding="utf-8").splitlines())
        if number > FOLDERS[folder]:
            long.append(f"{path.relative_to(ROOT)} has {number} lines")
        if folder != "tests":
            long += places(path, functions_over(parse(path), LONGEST_FUNCTION))
    assert long == []


def test_the_architecture_names_files_that_are_there() -> None:
    words = re.findall(r"`([^`\s]+)`", (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8"))
    named = [word for word in words if re.fullmatch(r"[\w/]+(/|\.py|\.json)", word) and "NAME" not in word]
    files = [path for folder in (*FOLDERS, "docs") for path in (ROOT / folder).rglob("*.*")]
    there = {path.relative_to(ROOT).as_posix() for path in files}
    there |= {f"{parent}/" for path in there for parent in map(str, Path(path).parents)}
    assert len(named) > 50
    assert [word for word in named if not any(f"/{path}".endswith(f"/{word}") for path in there)] == []


def test_these_checks_find_what_they_look_for() -> None:
    code = 'def f(i):\n    "DIFF"\n    if isinstance(i, (int, Testing)) or i.metric == "DIFF":\n        return m.MEAN\n'
    assert metrics_named(ast.parse(code)) == {(3, "DIFF"), (4, "MEAN")}
    assert metrics_named(ast.parse("from fairtest.metrics.mean import MEAN")) == {(1, "MEAN")}
    assert kinds_asked(ast.parse(code)) == {(3, "Testing")}
    assert participles(ast.parse("def _judged(): ...\n@property\ndef tested(): ...")) == {(1, "_judged")}
    assert functions_over(ast.parse(code), 2) == {(1, "f")}
    assert functions_over(ast.parse(code), 3) == set()
