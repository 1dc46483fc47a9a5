"""A metric of one's own: declared with a decorator, and in nothing less than the built-in ones."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtest.exceptions import InputError
from fairtest.metrics.choice import TAKEN
from fairtest.metrics.registry import Metric, register
from fairtest.metrics.resampling import RESAMPLING, SCREENED_RESAMPLING
from fairtest.metrics.scale import Scale
from fairtest.metrics.words import Words
from fairtest.types import Kind, SummaryKind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from fairtest.types import FloatArray


def metric(
    name: str,
    *,
    protected: str | Iterable[str],
    output: str | Iterable[str],
    phrase: str = "",
    signed: bool = True,
    meaning: str = "",
    unit: str = "",
    factor: float = 1.0,
    decimals: int | None = None,
    most: float = np.inf,
) -> Callable[[Callable[..., Any]], Metric]:
    """Declare a metric of one's own.

    Where both attributes have levels, the function gets counts with the axes ``[..., stratum, output, protected]``
    and returns the effect of each table along the leading axes; of two output values the second is the favourable
    one, of two groups the first is the reference. Where one is numeric, it gets arrays ``s``, ``o`` and ``stratum``
    and returns one number. Undefined is NaN. With explanatory attributes it must average over strata itself. Tests are
    permutations within strata, intervals bootstraps.

    Parameters
    ----------
    name
        What to call it, in ``metrics={"race": name}`` and in the report.
    protected, output
        The kinds it accepts: ``"binary"``, ``"categorical"``, ``"ordered"``, ``"numeric"``, or several of them.
    phrase
        What the number is, for a reader: ``"log odds ratio"``.
    signed
        Whether the effect has a direction; False for one that is never negative.
    meaning
        How to read the number, for the guide of the report.
    unit, factor, decimals
        How it is written: an effect of 0.12 with ``factor=100, decimals=1, unit="points"`` reads ``12.0 points``. By
        default with three decimals, or four where the effect in the whole population is below 0.02.
    most
        The largest size an effect can have, if there is one.

    Examples
    --------
    >>> @metric("gap", protected="binary", output="binary", unit="points", factor=100, decimals=1)
    ... def gap(counts):
    ...     rates = counts[..., 1, :].sum(axis=-2) / counts.sum(axis=(-3, -2))
    ...     return rates[..., 1] - rates[..., 0]
    >>> gap.accepts(Kind.BINARY, Kind.BINARY), gap.scale.estimate(-0.123)
    (True, '−12.3 points')
    """
    kinds = {role: _kinds(given, role) for role, given in (("protected", protected), ("output", output))}
    if not isinstance(name, str) or not name:
        raise InputError(f"The 'name' of a metric must be a non-empty text. Got {name!r} instead.")
    if name.casefold() in TAKEN:
        raise InputError(f"The metric {name!r} exists already. Choose another name for yours.")
    rows = any(Kind.NUMERIC in k for k in kinds.values())
    scale = Scale(factor=factor, unit=f" {unit.strip()}" if unit else "")
    if decimals is not None:
        if not isinstance(decimals, int) or decimals < 0:
            raise InputError(f"The 'decimals' of a metric must be an int ≥ 0. Got {decimals!r} instead.")
        scale = replace(scale, decimals=decimals, finer_for_weak=0.0)
    words = Words(noun=phrase, meaning=meaning) if meaning else Words(noun=phrase)

    def declare(function: Callable[..., Any]) -> Metric:
        return register(
            Metric(
                name=name,
                phrase=phrase or name,
                protected=kinds["protected"],
                output=kinds["output"],
                summary=SummaryKind.ROWS if rows else SummaryKind.COUNTS,
                effect=function if rows else _of_counts(function),
                procedure=RESAMPLING if rows else SCREENED_RESAMPLING,
                signed=signed,
                most=most,
                scale=scale,
                words=words,
            )
        )

    return declare


def _of_counts(function: Callable[..., Any]) -> Callable[..., Any]:
    def effect(summary: Any) -> FloatArray:
        with np.errstate(invalid="ignore", divide="ignore"):
            result = np.asarray(function(summary.counts), dtype=float)
        result = np.where(np.isinf(result), np.nan, result)
        if result.shape != summary.counts.shape[:-3]:
            raise InputError(
                f"The metric must return one number for each table: shape {summary.counts.shape[:-3]} for counts of "
                f"shape {summary.counts.shape}. Got shape {result.shape} instead."
            )
        return result

    return effect


def _kinds(given: str | Iterable[str], role: str) -> frozenset[Kind]:
    allowed = [k.value for k in Kind if k is not Kind.IDENTIFIER]
    try:
        names = [given] if isinstance(given, str) else list(given)
    except TypeError:
        raise InputError(f"The {role!r} kinds of a metric must be among {allowed}. Got {given!r} instead.") from None
    for name in names:
        if name not in allowed:
            raise InputError(f"The {role!r} kinds of a metric must be among {allowed}. Got {name!r} instead.")
    return frozenset(Kind(name) for name in names)
