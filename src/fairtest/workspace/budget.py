"""A budget that outlasts the process: test sets are drawn from the ledger of a workspace and spent in it."""

from __future__ import annotations

import datetime as dt
import shlex
import time
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from fairtest.data import registry
from fairtest.data.holdout import Budget, product_level
from fairtest.exceptions import BudgetExhausted
from fairtest.version import __version__
from fairtest.workspace.codec import pack
from fairtest.workspace.ledger import Headline, Run, StoredReport
from fairtest.workspace.questions import pack_question

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import Path

    from fairtest.model.results import Answered
    from fairtest.workspace.ledger import Ledger, Setup

FIRST_PAUSE, LONGEST_PAUSE = 0.02, 0.5
"""Seconds between two looks whether a test set is free, at first and after a while."""


@dataclass
class Caller:
    """Who asks: what was typed, whom to tell that every test set is in use, and which set was drawn last and when."""

    command: str = ""
    waiting: Callable[[str], None] | None = None
    drawn: tuple[int, str] | None = None


class LedgerBudget(Budget):
    """Hands out the test sets of a workspace, each once, whatever the number of processes.

    A set is held while its answer is computed; no other process can draw it then, and it is free again if this one
    dies. It is spent by :meth:`keep`, which stores the finished reports.

    Parameters
    ----------
    folder
        Where the workspace is, for messages.
    declared
        What was said about the columns of the source that this budget belongs to.
    """

    def __init__(self, ledger: Ledger, setup: Setup, folder: Path, declared: Mapping[str, Any], caller: Caller) -> None:
        super().__init__(setup.budget)
        self._ledger = ledger
        self._setup = setup
        self._folder = folder
        self._declared = dict(declared)
        self._caller = caller
        self._drawn: dict[int, str] = {}

    @property
    def left(self) -> int:
        """How many test sets have not been spent."""
        return self.size - len(self._ledger.spent_sets())

    @property
    def shown(self) -> bool:
        """Whether anything was shown of these people, by any process: see :class:`~fairtest.data.holdout.Budget`.

        What the registry knows counts too, such as an audit of the same people without this workspace. In a workspace
        that was made before, it is not known whether proposals of training have been shown: they may have been.
        """
        if self._setup.levels == "product" or self._ledger.was_shown():
            return True
        return registry.was_shown(self._setup.fingerprint, besides=self._setup.id)

    def mark_shown(self) -> None:
        """Note that something is shown from here on; a run that is stored says so itself."""
        if not self._ledger.was_shown():
            self._ledger.mark_shown(now(), _storable(self._caller.command))
            registry.note_shown(self._setup.fingerprint, self._setup.rows)

    def level_of_set(self, conf: float) -> float:
        """Return the level of each test set, by the rule that the workspace was made with."""
        return product_level(conf, self.size) if self._setup.levels == "product" else super().level_of_set(conf)

    def check(self) -> None:
        """Raise if there is no test set left to draw, or its answer could not be stored."""
        if not self.left:
            raise self._exhausted_error()
        self._ledger.check_writable()

    @contextmanager
    def draw(self) -> Iterator[int]:
        """Draw the next test set that is free; it is given back if the block raises.

        While other processes hold all that are left, this waits until one of these is spent or given back.
        """
        with ExitStack() as holding:
            number = self._wait_for_set(holding)
            self._drawn[number] = now()
            self._caller.drawn = number, self._drawn[number]
            try:
                yield number
                if number in self._drawn:  # looked at without a report: spent all the same
                    self.keep(number, ())
            finally:
                self._drawn.pop(number, None)

    def keep(self, number: int, answers: Iterable[Answered]) -> None:
        """Store the reports of what a test set answered, which spends it: all in one transaction."""
        reports = [pack_report(answered, self._declared, self._caller.command) for answered in answers]
        run = Run(number, self._drawn[number], now(), _storable(self._caller.command), __version__)
        self._ledger.spend(run, reports)
        del self._drawn[number]
        setup = self._setup
        registry.note(setup.fingerprint, setup.rows, run.finished, setup.id, str(self._folder.absolute()))

    def _wait_for_set(self, holding: ExitStack) -> int:
        pause = FIRST_PAUSE
        while True:
            if (number := self._claim_free_set(holding)) is not None:
                return number
            if pause == FIRST_PAUSE and self._caller.waiting is not None:
                self._caller.waiting(f"every test set of {self._folder} is in use by another process; waiting for one")
            time.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE)

    def _claim_free_set(self, holding: ExitStack) -> int | None:
        """Return a test set that is now held, or None if others hold all that are left."""
        left = sorted(set(range(1, self.size + 1)) - self._ledger.spent_sets())
        if not left:
            raise self._exhausted_error()
        for number in left:
            with ExitStack() as trying:
                # who held it before may have spent it since it was counted
                if trying.enter_context(self._ledger.claim(number)) and number not in self._ledger.spent_sets():
                    holding.push(trying.pop_all())
                    return number
        return None

    def _exhausted_error(self) -> BudgetExhausted:
        return BudgetExhausted(
            f"The budget of the workspace {str(self._folder)!r} is exhausted: {self.all_sets} been spent. What "
            f"they answered can be shown again (fairtest report {shlex.quote(str(self._folder))}); a new question "
            "needs new people."
        )


def pack_report(answered: Answered, declared: Mapping[str, Any], command: str = "") -> StoredReport:
    """Return a finished report as it is stored and shown; ``declared`` is what was said about columns."""
    report = replace(answered.report, repeat=command)
    by = ", ".join(answered.explained_by)
    headline = Headline(report.kind, _storable(answered.title), _storable(by), report.significant, report.reported)
    return StoredReport(
        headline,
        pack_question(answered, dict(declared)),
        pack(answered.prior),
        pack(report),
        report.to_json(),
        report.to_text(),
        report.to_html(),
    )


def now() -> str:
    """Return the time in UTC, as ISO 8601 has it."""
    return dt.datetime.now(dt.UTC).isoformat(timespec="milliseconds")


def _storable(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode()
