"""What a store of a workspace must do, and what it holds.

The rule that everything else follows from: *a test set is spent by storing what it answered*. :meth:`Ledger.spend` is
one transaction that does both or neither, and nothing is shown before it has returned. So a set that is spent has its
report, a report that was shown is stored, and a process that dies leaves the set as it was.

:meth:`Ledger.claim` keeps two processes from working on the same set. It saves work and is not what the promise rests
on: a set that was spent in the meantime is refused by :meth:`Ledger.spend`, and that answer is thrown away unseen.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from fairtest.exceptions import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from contextlib import AbstractContextManager


class AlreadySpent(UsageError):  # noqa: N818 - as BudgetExhausted
    """The test set was spent by somebody else; what was computed from it must not be seen."""


@dataclass(frozen=True)
class Setup:
    """What a workspace is about: the people, and how they are divided. It never changes.

    Attributes
    ----------
    id
        Drawn at random when the workspace was made: the same wherever the folder is moved.
    name, rows
        What the data is called in reports, and how many people there are.
    path, beside
        Where the file is: the whole path, and the one from the workspace's folder; None for a frame.
    fingerprint, in_order
        Of the people in any order, and in the order that the split was made for.
    budget, conf, train_size, seed, split, preset
        As for :class:`fairtest.DataSource`; ``train_size`` as it came out.
    reading
        How the file is read: ``missing``, ``delimiter``, ``encoding``, ``decimal``, ``engine``, ``memory``.
    declared
        What was said about columns: their kinds, ``favourable``, ``reference``, and words for them.
    levels
        How the levels of the test sets make up that of all of them: ``"sum"``, (1 − conf)/budget each, or
        ``"product"``, 1 − conf^(1/budget) each, in workspaces that were made before whole populations were tested on
        the people of the training set too; there they are tested on the test set alone.
    """

    id: str
    created: str
    version: str
    name: str
    rows: int
    path: str | None
    beside: str | None
    fingerprint: str
    in_order: str
    budget: int
    conf: float
    train_size: float
    seed: int
    split: bool = True
    preset: str | None = None
    reading: Mapping[str, Any] = field(default_factory=dict)
    declared: Mapping[str, Any] = field(default_factory=dict)
    levels: str = "sum"


@dataclass(frozen=True)
class Headline:
    """A report in a line: what was asked, and perhaps explained by what; how much is significant, and reported."""

    kind: str
    title: str
    explained_by: str
    significant: int
    reported: int


@dataclass(frozen=True)
class Run:
    """One use of a test set, named by the number of the set.

    Attributes
    ----------
    started, finished
        In UTC, as ISO 8601 has it.
    command
        What was typed; empty for Python.
    version
        Of the FairTest that answered.
    reports
        What was asked, in the order of the batch.
    """

    number: int
    started: str
    finished: str
    command: str
    version: str
    reports: tuple[Headline, ...] = ()


@dataclass(frozen=True)
class StoredReport:
    """A finished report, and what is needed to ask about it again.

    Attributes
    ----------
    question, prior
        The arguments of the investigation, and what was significant, as JSON.
    document
        The :class:`~fairtest.Report` as JSON, exactly.
    json, text, html
        As they are shown.
    """

    headline: Headline
    question: str
    prior: str
    document: str
    json: str
    text: str
    html: str


class Ledger(Protocol):
    """The store of one workspace. Every method is one transaction, and may be called by any process at any time."""

    def setup(self) -> Setup:
        """Return what the workspace is about."""

    def spent_sets(self) -> frozenset[int]:
        """Return the numbers of the test sets that are spent."""

    def runs(self) -> tuple[Run, ...]:
        """Return what has been asked, in the order in which it was answered."""

    def was_shown(self) -> bool:
        """Whether anything was shown of the people: what a test set answered, or what training proposes."""

    def mark_shown(self, when: str, command: str) -> None:
        """Note that what training proposes is shown from here on, and by which command; nothing where it was before."""

    def reports(self, number: int) -> tuple[StoredReport, ...]:
        """Return the reports of a run; nothing where there is no such run."""

    def claim(self, number: int) -> AbstractContextManager[bool]:
        """Hold a test set while the block runs, if nobody else does; gives whether it is held.

        However the process ends, the set is free again afterwards.
        """

    def spend(self, run: Run, reports: Sequence[StoredReport]) -> None:
        """Store a run with its reports, which spends its test set: all of it or nothing.

        Raises
        ------
        AlreadySpent
            If the set was spent before; nothing is stored then.
        """

    def check_writable(self) -> None:
        """Raise if nothing can be stored, before anything is computed."""
