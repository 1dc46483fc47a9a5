"""What a report lists beside its findings: other significant contexts, and the guided tree around them."""

from __future__ import annotations

from heapq import nsmallest
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtest.model.finding import Tested
from fairtest.ranking.reported import nearest_bound
from fairtest.search.cuts import conditions_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from fairtest.engine.contract import Engine
    from fairtest.inference.describe import Describer
    from fairtest.inference.validate import Validated
    from fairtest.model.context import Context, Predicate

MOST_LISTED, MOST_NODES = 40, 40
"""So many significant contexts that are not findings, and so many nodes of the guided tree, are listed."""


def others_of(
    engine: Engine, number: int, describer: Describer, validated: Validated, shown: Collection[int]
) -> tuple[Tested, ...]:
    """Return the contexts listed beside those shown, and the nodes of the guided tree around those that are nodes.

    Of the latter only the size in the test set is looked up: they were not tested.
    """
    asked = validated.asked
    tested = describer.others(listed(validated, shown, describer.level))
    leads = _leading([other.context for other in tested if other.guided])
    around = sorted((c for c in asked.guided.difference(asked.contexts) if leads(c)), key=str)
    if not around:
        return tested
    sums = engine.tables(number, conditions_of(around, engine.axis), asked.target)
    sizes = asked.target.wrap(sums).size.tolist()
    return *tested, *(Tested(c, n, None, None, None, False, guided=True) for c, n in zip(around, sizes, strict=True))


def listed(validated: Validated, shown: Collection[int], level: float) -> list[int]:
    """Return the contexts that are listed beside those shown.

    The strongest of those that are significant, strongest first; then nodes of the guided tree that are not, those on
    the way to a finding and large ones first.
    """
    asked, e = validated.asked, validated.contexts
    bound = np.nan_to_num(nearest_bound(e.low_single, e.high_single, asked.question.metric.strength))
    leads = _leading([asked.contexts[i] for i in shown if i])

    size = e.size.tolist()

    def strength(i: int) -> tuple[Any, ...]:
        return -round(float(bound[i]), 12), -size[i], str(asked.contexts[i])

    def place(i: int) -> tuple[bool, int]:
        return not leads(asked.contexts[i]), -size[i]

    known = ~np.isnan(e.effect)
    known[list(shown)] = False
    with np.errstate(invalid="ignore"):
        significant = e.p <= level
    sure = np.flatnonzero(known & significant)
    if sure.size > MOST_LISTED:  # names, which break ties, are spelt out only for those near the top
        sure = sure[bound[sure] >= np.sort(bound[sure])[-MOST_LISTED] - 1e-9]
    strong = sorted(sure.tolist(), key=strength)[:MOST_LISTED]
    places = {i: place(i) for i in np.flatnonzero(known).tolist() if asked.contexts[i] in asked.guided}
    last = max(nsmallest(MOST_NODES, places.values()), default=())
    first = [i for i, at in places.items() if at <= last]  # here too, few names are spelt out
    nodes = sorted(first, key=lambda i: (places[i], str(asked.contexts[i])))[:MOST_NODES]
    kept = {*strong, *(i for i in nodes if significant[i])}
    return [*sorted(kept, key=strength), *(i for i in nodes if not significant[i])]


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
