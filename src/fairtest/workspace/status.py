"""Where a workspace stands, in words."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairtest.workspace.ledger import Headline, Run, Setup


@dataclass(frozen=True)
class Status:
    """The data, the budget and past runs of a workspace; prints as text.

    ``shown`` says whether anything was shown of the people: proposals of training, or an answer.
    """

    path: str
    setup: Setup
    runs: tuple[Run, ...]
    shown: bool = False

    @property
    def spent(self) -> tuple[int, ...]:
        """The test sets that are spent, by number."""
        return tuple(sorted(run.number for run in self.runs))

    @property
    def left(self) -> int:
        """How many test sets are left."""
        return self.setup.budget - len(self.runs)

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _describe_file(self) -> str:
        """Return where the data is now: it may have been moved together with the workspace."""
        if self.setup.path is None:
            return "none: it was made from a frame"
        beside = None if self.setup.beside is None else Path(self.path, self.setup.beside).resolve()
        if beside is not None and beside.exists():
            return str(beside)
        return self.setup.path if Path(self.setup.path).exists() else f"{self.setup.path} (not there now)"

    def _lines(self) -> Iterator[str]:
        setup = self.setup
        yield f"Workspace {self.path}, made {_day(setup.created)}"
        rows = "rows" if setup.reading.get("person") else "people"
        yield f"  data     {setup.name}: {setup.rows:,} {rows} (fingerprint {setup.fingerprint})"
        yield f"  file     {self._describe_file()}"
        yield f"  split    {_describe_split(setup)}; seed {setup.seed}, confidence {setup.conf:g}"
        sets = "1 test set" if setup.budget == 1 else f"{setup.budget} test sets"
        yield f"  budget   {sets}: {len(self.runs)} spent, {self.left} left"
        if self.left and setup.levels == "product":
            yield (
                f"  rule     that of the version it was made by: each test set has the level 1 − {setup.conf:g}^"
                f"(1/{setup.budget}), and everybody means everybody in it"
            )
        elif self.left and self.shown and not self.runs:
            yield (
                "  shown    what training proposes: questions from now on are put to the test set alone, also those "
                "about everybody"
            )
        yield ""
        yield "Runs, each with the number of its test set:" if self.runs else "No run yet: nothing has been spent."
        for run in self.runs:
            yield from _run(run)


def _run(run: Run) -> Iterator[str]:
    yield f"  {run.number}  {_minute(run.finished)}  {run.command or 'from Python'}"
    for line in run.reports:
        yield f"     {_headline(line)}"
    if not run.reports:
        yield "     no report: the set was drawn and looked at in another way"


def _headline(line: Headline) -> str:
    explained = f", explained by {line.explained_by}" if line.explained_by else ""
    return (
        f"{line.title}{explained}: {line.significant:,} significant, {line.reported:,} reported (everybody counts too)"
    )


def _describe_split(setup: Setup) -> str:
    if not setup.split:
        return "none: everybody is in the only test set"
    preset = f" (preset {setup.preset})" if setup.preset else ""
    return f"{100 * setup.train_size:.3g} % train, the others are divided among the test sets{preset}"


def _day(time: str) -> str:
    return time[:10]


def _minute(time: str) -> str:
    return f"{time[:16].replace('T', ' ')} UTC"
