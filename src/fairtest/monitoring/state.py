"""The state of a life as plain data: to be stored as JSON, and read back by this version or a later one."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtest.exceptions import InputError
from fairtest.model.context import Context, Op, Predicate
from fairtest.monitoring.book import Book, Held
from fairtest.monitoring.candidates import Candidates, items_from_plain, items_to_plain
from fairtest.monitoring.claims import following_from_plain, following_to_plain
from fairtest.monitoring.family import Census
from fairtest.monitoring.learning import Learned, Strata
from fairtest.monitoring.life import Life, Terms
from fairtest.monitoring.pairs import Pair
from fairtest.monitoring.schema import (
    level_from_plain,
    level_to_plain,
    schema_from_plain,
    schema_to_plain,
    variable_from_plain,
    variable_to_plain,
)
from fairtest.monitoring.stakes import stakes_from_plain, stakes_to_plain

if TYPE_CHECKING:
    from collections.abc import Mapping

VERSION = 1
_PLAIN = ("candidate", "depths", "valid_from", "given", "alarmed", "fed", "hours", "days", "first_day", "recent")
_MORE_PLAIN = ("known", "today", "unseen", "early", "echo_of", "sums")
_HELD = ("row", "hour", "stratum", "protected", "output")


def check_version(state: Mapping[str, Any]) -> None:
    """Raise if a state is none, or of a version that is not known."""
    found = state.get("version") if hasattr(state, "get") else None
    if found != VERSION:
        raise InputError(
            f"The state must be what Watch.state() returned, of version {VERSION}. Got "
            f"{'no version' if found is None else f'version {found!r}'}; a newer FairTest may have written it."
        )


def context_to_plain(context: Context) -> list[Any]:
    """Return a context as JSON can have it."""
    return [[p.column, p.op.value, level_to_plain(p.value), level_to_plain(p.order)] for p in context.predicates]


def context_from_plain(stored: list[Any]) -> Context:
    """Return a stored context."""
    return Context.of(Predicate(c, Op(op), level_from_plain(v), level_from_plain(o)) for c, op, v, o in stored)


def learned_to_plain(learned: Learned) -> dict[str, Any]:
    """Return what was learned as JSON can have it."""
    pairs = [
        {
            "protected": variable_to_plain(pair.protected),
            "output": variable_to_plain(pair.output),
            "metric": pair.metric,
            "tolerance": pair.tolerance,
        }
        for pair in learned.pairs
    ]
    known = [[list(combination), number] for combination, number in learned.strata.known.items()]
    return {
        "schema": schema_to_plain(learned.schema),
        "pairs": pairs,
        "items": [items_to_plain(items) for items in learned.candidates.items],
        "allowed": [sorted(columns) for columns in learned.allowed],
        "strata": {"thresholds": {k: list(v) for k, v in learned.strata.thresholds.items()}, "known": known},
    }


def learned_from_plain(stored: dict[str, Any]) -> Learned:
    """Return what was stored of what was learned."""
    pairs = tuple(
        Pair(variable_from_plain(p["protected"]), variable_from_plain(p["output"]), p["metric"], p["tolerance"])
        for p in stored["pairs"]
    )
    thresholds = {name: tuple(cuts) for name, cuts in stored["strata"]["thresholds"].items()}
    strata = Strata(thresholds, {tuple(c): number for c, number in stored["strata"]["known"]})
    candidates = Candidates([items_from_plain(items) for items in stored["items"]])
    allowed = tuple(frozenset(columns) for columns in stored["allowed"])
    return Learned(schema_from_plain(stored["schema"]), pairs, candidates, allowed, strata)


def life_to_plain(life: Life, *, past: bool = True) -> dict[str, Any]:
    """Return a life as JSON can have it; the sums of days that are over may be left out, for :func:`past_to_plain`."""
    return {
        "terms": asdict(life.terms),
        "start": life.start,
        "day": life.day,
        "hour": life.hour,
        "alarms": life.alarms,
        "waiting": [[pair, context_to_plain(context), origin] for pair, context, origin in life.waiting],
        "stratum_records": [[stratum, many] for stratum, many in life.stratum_records.items()],
        "books": [_book_to_plain(book) | (_past_to_plain(book) if past else {}) for book in life.books],
        "censuses": [census.to_plain() for census in life.censuses],
    }


def life_from_plain(stored: dict[str, Any], learned: Learned) -> Life:
    """Return a stored life."""
    number = learned.candidates.number
    books = [_book_from_plain(b, pair, number) for b, pair in zip(stored["books"], learned.pairs, strict=True)]
    return Life(
        Terms(**stored["terms"]),
        learned.pairs,
        learned.candidates,
        learned.schema,
        learned.allowed,
        books=books,
        censuses=[Census.from_plain(c, number) for c in stored["censuses"]],
        start=stored["start"],
        day=stored["day"],
        hour=stored["hour"],
        alarms=stored["alarms"],
        waiting=[(pair, context_from_plain(context), origin) for pair, context, origin in stored["waiting"]],
        stratum_records=dict(stored["stratum_records"]),
    )


def past_to_plain(life: Life) -> list[dict[str, Any]]:
    """Return the sums of days that are over, for each book, as JSON can have them."""
    return [_past_to_plain(book) for book in life.books]


def join_past(stored: dict[str, Any], past: list[dict[str, Any]]) -> dict[str, Any]:
    """Return a stored life with the sums that were stored apart from it."""
    books = [{**book, **sums} for book, sums in zip(stored["books"], past, strict=True)]
    return {**stored, "books": books}


def _past_to_plain(book: Book) -> dict[str, Any]:
    return {"past_days": list(book.past_days), "past_sums": [sums.tolist() for sums in book.past_sums]}


def _book_to_plain(book: Book) -> dict[str, Any]:
    open_ = np.flatnonzero(book.tally)
    return {
        "contexts": [context_to_plain(context) for context in book.contexts],
        "origins": list(book.origins),
        "followings": [[row, following_to_plain(f)] for row, f in book.followings.items()],
        "strata": book.strata,
        "arrays": {name: book.arrays[name].tolist() for name in (*_PLAIN, *_MORE_PLAIN)},
        "log_stakes": stakes_to_plain(book.log_stakes),
        "tally": [open_.tolist(), book.tally.ravel()[open_].tolist()],
        "held": {name: getattr(book.held, name).tolist() for name in _HELD},
    }


def _book_from_plain(stored: dict[str, Any], pair: Pair, number: int) -> Book:
    book = Book(pair, number, strata=stored["strata"])
    contexts = [context_from_plain(c) for c in stored["contexts"]]
    book.add(contexts, "", [-1] * len(contexts), 0)
    for name, values in stored["arrays"].items():
        kept = book.arrays[name]
        book.arrays[name] = np.asarray(values, dtype=kept.dtype).reshape(kept.shape)
    book.arrays["log_stakes"] = stakes_from_plain(stored["log_stakes"], pair.bets)
    where, many = stored["tally"]
    book.arrays["tally"].ravel()[np.asarray(where, dtype=int)] = many
    book.origins = list(stored["origins"])
    book.followings = {row: following_from_plain(f) for row, f in stored["followings"]}
    kinds = {"protected": float, "output": float}
    book.held = Held(*(np.asarray(stored["held"][name], dtype=kinds.get(name, np.int64)) for name in _HELD))
    book.past_days = list(stored.get("past_days", ()))
    cells = (len(pair.cells), 4)
    book.past_sums = [np.asarray(sums, dtype=float).reshape(-1, *cells) for sums in stored.get("past_sums", ())]
    book.relabel()
    return book
