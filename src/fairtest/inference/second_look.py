"""What would be reported is looked at once more, person by person.

Sums are quick, and sometimes not enough: bins of an explanatory number leave some of what it explains, and skewed
products may have a tail that nobody is in. The p-value is then the larger of two. That takes the people of few
hypotheses: raising some p-values makes no other smaller, so that what is not rejected without it needs no second look.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fairtest.statistics.neighbours import neighbour_p

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from fairtest.inference.family import Member, TestSettings
    from fairtest.inference.multiplicity.prior import Prior

FEW = 50
"""Of up to so many hypotheses, all that are clear by themselves are looked at again: single intervals should hold."""


def look_again(family: Sequence[Member], prior: Prior, settings: TestSettings) -> None:
    """Raise the p-values of what would be rejected where the people say less than their sums."""
    if any(member.procedure.again is not None for member in family):
        for member, places in _find_rejected(family, prior, settings):
            if member.procedure.again is not None and places:
                member.p[places] = member.procedure.again(member.batch, places, member.p[places])
    if any(member.batch.near is not None for member in family):
        for member, places in _find_rejected(family, prior, settings):
            if member.batch.near is not None and places:
                member.near[places] = [neighbour_p(people) for people in member.batch.near(places)]
                member.p[places] = np.maximum(member.p[places], member.near[places])


def _find_rejected(
    family: Sequence[Member], prior: Prior, settings: TestSettings
) -> Iterator[tuple[Member, list[int]]]:
    """Yield each batch with the hypotheses that would be rejected; of few, all that are clear by themselves."""
    together = np.concatenate([member.p for member in family])
    with np.errstate(invalid="ignore"):
        wanted = settings.correction.adjust(together, prior) <= settings.level
        if len(together) <= FEW:
            wanted |= together <= 2 * settings.level
    for member, some in zip(family, np.split(wanted, np.cumsum([len(m.p) for m in family])[:-1]), strict=True):
        yield member, np.flatnonzero(some).tolist()
