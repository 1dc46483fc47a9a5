"""The documentation is built without a warning, all of its code runs, and it shows what really comes out."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pages
import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
WRITTEN_BY_TOOLS = {
    "adaptive.md",
    "adversary.md",
    "benchmarks.md",
    "calibration.md",
    "commands.md",
    "holds.md",
    "searches.md",
}
PAGES = sorted(
    p.relative_to(ROOT).as_posix()
    for p in DOCS.rglob("*.md")
    if p.name not in WRITTEN_BY_TOOLS and p.parent.name != "evaluation"
)
NOT_RUN = {
    "docs/how-to/alerts.md": 2,
    "docs/how-to/continuous-integration.md": 1,
    "docs/how-to/first-alert.md": 5,
    "docs/how-to/first-audit.md": 1,
    "docs/how-to/people-and-weights.md": 1,
    "docs/how-to/run-the-service.md": 5,
    "docs/how-to/scikit-learn.md": 1,
    "docs/how-to/send-records.md": 4,
    "docs/index.md": 1,
}
"""How many blocks of a page are not run; each says why."""


@pytest.mark.parametrize("page", PAGES)
def test_code_runs_and_shows_what_comes_out(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    with pages.own_metrics():
        outputs = pages.outputs_of((ROOT / page).read_text("utf-8"))
    for block, shown, real in outputs:
        problem = pages.differs(shown, real)
        assert not problem, f"{page}, line {block.line}: {problem}"


def test_every_block_is_run_or_says_why_not() -> None:
    known = {"python", "console", "text", "toml", "json", "yaml", "bibtex"}
    skipped: dict[str, int] = {}
    for page in PAGES:
        for block in pages.blocks_of((ROOT / page).read_text("utf-8")):
            where = f"{page}, line {block.line}"
            assert block.kind in known, f"{where}: a block of {block.kind or 'nothing'} is neither run nor marked"
            if block.mark is not None and block.mark[0] == "not run":
                assert len(block.mark[1]) > 10, f"{where}: say why it is not run"
                skipped[page] = skipped.get(page, 0) + 1
    assert skipped == NOT_RUN


class TestTheRunner:
    """A page that is wrong is caught."""

    @pytest.mark.parametrize(
        "text",
        [
            "```python\nprint(1)\n```\n\n```text\n2\n```\n",
            "```console\n$ fairtest --version\nfairtest 99\n```\n",
            "```console\n$ fairtest test nobody.csv -p a -o b\n$ echo $?\n0\n```\n",
        ],
    )
    def test_wrong_output(self, text: str) -> None:
        ((_, shown, real),) = pages.outputs_of(text)
        assert pages.differs(shown, real)
        assert not pages.differs(real, real)

    def test_code_that_fails(self) -> None:
        with pytest.raises(ZeroDivisionError):
            pages.outputs_of("```python\n1 / 0\n```\n")

    def test_a_command_that_is_not_understood(self) -> None:
        with pytest.raises(ValueError, match="Got 'rm"):
            pages.outputs_of("```console\n$ rm -rf x\n```\n")

    def test_an_output_is_rewritten(self) -> None:
        text = "a\n\n```python\nprint(1)\n```\n\n```text\n2\n```\n\nb\n"
        assert pages.rewritten(text) == text.replace("2", "1")

    def test_blocks_after_prose_are_no_output(self) -> None:
        assert pages.outputs_of("```python\nprint(1)\n```\n\nAnother:\n\n```text\n2\n```\n") == []


def test_the_site_is_built_without_a_warning(tmp_path: Path) -> None:
    for name in ("sphinx", "furo", "myst_parser", "numpydoc"):
        pytest.importorskip(name, reason=f"{name} is not installed: see the dependency group 'docs'")
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html", str(DOCS), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    for page in ("index", "tutorial", "reference/api", "explanation/statistics"):
        assert (tmp_path / f"{page}.html").exists()


def test_the_reference_names_everything_public() -> None:
    import fairtest

    text = (DOCS / "reference" / "api.md").read_text("utf-8")
    for name in fairtest.__all__:
        if not name.startswith("__"):
            assert re.search(rf"^\.\. auto\w+:: fairtest\.{name}$", text, re.MULTILINE), name


def test_links_to_files_of_the_repository_lead_somewhere() -> None:
    for path in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "ARCHITECTURE.md", ROOT / "CHANGELOG.md"):
        for target in re.findall(r"\]\((?!https?:|#)([^)#]+)", path.read_text("utf-8")):
            assert (path.parent / target).exists(), f"{path.name}: {target}"


def test_what_the_test_plan_names_exists():
    plan = (DOCS / "test-plan.md").read_text("utf-8")
    tests = "\n".join(path.read_text("utf-8") for path in (ROOT / "tests").rglob("test_*.py"))
    named = set(re.findall(r"`(test_\w+)`", plan))
    assert len(named) > 50
    assert {name for name in named if f"def {name}(" not in tests} == set()
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    asked = set(re.findall(r"`make ([\w-]+)`", plan))
    assert asked
    assert asked <= targets
    for module in set(re.findall(r"`python -m ([\w.]+)", plan)):
        assert (ROOT / f"{module.replace('.', '/')}.py").is_file(), module
