"""What a report lists beside its findings: other significant contexts, and the guided tree around them."""

from __future__ import annotations

from heapq import nsmallest
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtest.model.finding import Tested
from fairtest.search.cuts import conditions_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from fairtest.engine.contract import Engine
    from fairtest.inference.describe import Describer
    from fairtest.inference.validate import Validated
    from fairtest.model.context import Context, Predicate
    from fairtest.types import IntArray

MOST_LISTED, MOST_NODES = 40, 40
"""So many significant contexts that are not findings, and so many nodes of the guided tree, are listed."""


def others_of(
    engine: Engine, number: int, describer: Describer, validated: Validated, groups: Sequence[Sequence[int]]
) -> tuple[Tested, ...]:
    """Return the contexts listed beside those shown, and the nodes of the guided tree around those that are nodes.

    Of the latter only the size in the test set is looked up: they were not tested. ``groups`` are the contexts shown,
    each followed by those that say the same or less.
    """
    asked = validated.asked
    part_of = {i: group[0] for group in groups for i in group[1:]}
    shown = {0, *(group[0] for group in groups)}
    tested = describer.others(list_others(validated, shown, part_of, describer.level), part_of)
    leads = _leading([other.context for other in tested if other.guided])
    around = sorted((c for c in asked.guided.difference(asked.contexts) if leads(c)), key=str)
    if not around:
        return tested
    sums = engine.tables(number, conditions_of(around, engine.axis), asked.target)
    sizes = asked.target.wrap(sums).size.tolist()
    return *tested, *(Tested(c, n, None, None, None, False, guided=True) for c, n in zip(around, sizes, strict=True))


def list_others(validated: Validated, shown: Collection[int], part_of: Mapping[int, int], level: float) -> list[int]:
    """Return the contexts that are listed beside those shown.

    Of those that are significant the largest for every finding that says what they say, finding by finding; then nodes
    of the guided tree that are not, those on the way to a finding and large ones first. By strength the list would
    begin with the luckiest parts of a finding.
    """
    asked, e = validated.asked, validated.contexts
    leads = _leading([asked.contexts[i] for i in shown if i])

    size = e.size.tolist()

    order = {i: place for place, i in enumerate(dict.fromkeys(part_of.values()))}

    def in_card(i: int) -> tuple[Any, ...]:
        return order.get(part_of.get(i, -1), len(order)), -size[i], str(asked.contexts[i])

    def place(i: int) -> tuple[bool, int]:
        return not leads(asked.contexts[i]), -size[i]

    known = ~np.isnan(e.effect)
    known[list(shown)] = False
    with np.errstate(invalid="ignore"):
        significant = e.p <= level
    sure = np.flatnonzero(known & significant)
    cards = np.array([order.get(part_of.get(i, -1), len(order)) for i in sure.tolist()], dtype=int)
    large = _largest_of_each(sure, e.size, cards)
    strong = _take_in_turn(sorted(large, key=in_card), lambda i: in_card(i)[0])
    places = {i: place(i) for i in np.flatnonzero(known).tolist() if asked.contexts[i] in asked.guided}
    last = max(nsmallest(MOST_NODES, places.values()), default=())
    first = [i for i, at in places.items() if at <= last]  # here too, few names are spelt out
    nodes = sorted(first, key=lambda i: (places[i], str(asked.contexts[i])))[:MOST_NODES]
    kept = {*strong, *(i for i in nodes if significant[i])}
    return [*sorted(kept, key=in_card), *(i for i in nodes if not significant[i])]


def _largest_of_each(some: IntArray, size: IntArray, cards: IntArray) -> list[int]:
    """Return the largest of every card, about as many as are listed: names, which break ties, are dear to spell out."""
    kept: list[int] = []
    for card in np.unique(cards).tolist():
        mine = some[cards == card]
        if mine.size > MOST_LISTED:
            mine = mine[size[mine] >= np.sort(size[mine])[-MOST_LISTED]]
        kept += mine.tolist()
    return kept


def _take_in_turn(ordered: Sequence[int], card: Callable[[int], int]) -> list[int]:
    """Return so many as are listed, one of each card after the other."""
    taken: dict[int, int] = {}
    turns = []
    for place, i in enumerate(ordered):
        turn = taken[card(i)] = taken.get(card(i), 0) + 1
        turns.append((turn, place, i))
    return [i for *_, i in nsmallest(MOST_LISTED, turns)]


def _leading(found: Sequence[Context]) -> Callable[[Context], bool]:
    """Return what says whether a context contains one of those found."""
    known: dict[int, tuple[Predicate, int]] = {}  # by identity, which is cheaper than the hash: predicates are shared

    def around(predicate: Predicate) -> int:
        """Return a bit for each context found that is within a predicate."""
        inside = [any(theirs.implies(predicate) for theirs in each.predicates) for each in found]
        bits = sum(1 << place for place, within in enumerate(inside) if within)
        known[id(predicate)] = (predicate, bits)  # kept alive, lest another get its identity
        return bits

    def leads(context: Context) -> bool:
        every = (1 << len(found)) - 1
        for predicate in context.predicates:
            every &= known[id(predicate)][1] if id(predicate) in known else around(predicate)
        return every > 0

    return leads
