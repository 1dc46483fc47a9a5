"""From a stored question to what the core calls it: columns that are looked at, roles, and a watch."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from fairtest.exceptions import FairTestWarning
from fairtest.monitoring.watch import Watch
from fairtest.service.store.rows import PERSON_HASH

if TYPE_CHECKING:
    from collections.abc import Callable

    import polars as pl

    from fairtest.monitoring.stakes import Entry
    from fairtest.service.ingest.columns import Declaration
    from fairtest.service.store.monitors import Monitor

TIME = "__time"
WATCHED = ("contextual", "explanatory", "exclude", "metrics", "ground_truth", "error", "notion", "separator")
DECLARED = ("categorical", "numeric", "ordered", "favourable", "reference")


def choose_given(question: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    """Return the settings of a question that are set."""
    return {name: question[name] for name in names if question.get(name) is not None}


def protected_of(question: dict[str, Any]) -> list[str | tuple[str, ...]]:
    """Return the protected attributes; several in a list are crossed."""
    return [names if isinstance(names, str) else tuple(names) for names in question["protected"]]


def seen_columns(declaration: Declaration, question: dict[str, Any]) -> list[str]:
    """Return the columns of a stream that an investigation sees: no ids, and no moments."""
    own = {declaration.record_id, declaration.person, *(question.get("leave_out") or ())}
    return [c.name for c in declaration.columns if c.name not in own and c.kind != "time"]


def watched_frame(frame: pl.DataFrame, declaration: Declaration, question: dict[str, Any]) -> pl.DataFrame:
    """Return the records as a watch sees them: the columns, who, and when they arrived."""
    seen = [name for name in seen_columns(declaration, question) if name in frame.columns]
    return frame.select(*seen, PERSON_HASH, TIME)


def make_watch(
    monitor: Monitor,
    history: pl.DataFrame,
    journal: Callable[[Entry], None] | None = None,
    before: Watch | None = None,
) -> tuple[Watch, list[str]]:
    """Return a watch that has learned from earlier records, and what it warns of.

    Raises
    ------
    InputError
        What is asked cannot be watched in these records; the message says why.
    """
    question, rate = monitor.question, monitor.question["error_rate"]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", FairTestWarning)
        watch = Watch(
            protected_of(question), question["output"], history=history, person=PERSON_HASH, time=TIME,
            alpha=rate["level"], mode="rate" if rate["over"] == "year" else "lifetime",
            tolerance=question.get("tolerance") or 0.0, name=monitor.id, seed=question.get("seed", 0), journal=journal,
            before=before, **choose_given(question, WATCHED), **choose_given(question, DECLARED),
        )  # fmt: skip
    return watch, [str(each.message) for each in caught if issubclass(each.category, FairTestWarning)]
