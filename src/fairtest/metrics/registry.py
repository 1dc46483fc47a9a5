"""What a metric is, and how to declare one of your own."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtest.exceptions import InputError
from fairtest.types import Kind, SummaryKind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from fairtest.metrics.evidence import Evidence
    from fairtest.types import FloatArray

LEVELS = frozenset({Kind.BINARY, Kind.CATEGORICAL, Kind.ORDERED})
NUMBERS = frozenset({Kind.BINARY, Kind.ORDERED, Kind.NUMERIC})
BUILT_IN = frozenset({"diff", "ratio", "nmi", "corr", "eta", "rank", "reg"})


@dataclass(frozen=True)
class Metric:
    """An association metric: a name, the kinds it accepts, and its effect.

    Attributes
    ----------
    protected, output
        The kinds of attribute it accepts.
    summary
        The table that ``effect`` reads on the test set.
    effect
        From a summary to the (signed) effect of each context; undefined is NaN. Several strata are conditioned on.
    bound
        From a summary and a normal quantile to a lower bound of the strength, for searching only.
    evidence
        From a summary to how surely it shows an association, for weighting hypotheses.
    strength
        From the effect to what searching, filtering and ranking compare.
    signed
        Whether the effect has a direction.
    search_summary
        The table that ``bound`` and ``effect`` read during the search, where another is cheaper.
    phrase
        What the number is, for a reader: "difference of rates".
    """

    name: str
    phrase: str
    protected: frozenset[Kind]
    output: frozenset[Kind]
    summary: SummaryKind
    effect: Callable[..., Any]
    bound: Callable[[Any, float], FloatArray] | None = None
    evidence: Callable[[Any], Evidence] | None = None
    strength: Callable[[FloatArray], FloatArray] = field(default_factory=lambda: np.abs)
    signed: bool = True
    search_summary: SummaryKind | None = None
    swaps_roles: bool = False

    def accepts(self, protected: Kind, output: Kind) -> bool:
        """Whether the metric is defined for a pair of kinds."""
        if protected in self.protected and output in self.output:
            return True
        return self.swaps_roles and output in self.protected and protected in self.output


_METRICS: dict[str, Metric] = {}


def register(new: Metric) -> Metric:
    """Add a metric to those that can be named."""
    _METRICS[new.name] = new
    return new


def named_metrics() -> dict[str, Metric]:
    """Return the metrics that can be named."""
    return _METRICS


def metric(
    name: str, *, protected: str | Iterable[str], output: str | Iterable[str], phrase: str = ""
) -> Callable[[Callable[..., Any]], Metric]:
    """Declare a metric of one's own.

    Where both attributes have levels, the function gets counts with the axes ``[..., stratum, output, protected]``
    and returns the effect of each table along the leading axes; of two output values the second is the favourable
    one, of two groups the first is the reference. Where one is numeric, it gets arrays ``s``, ``o`` and ``stratum``
    and returns one number. Undefined is NaN. Tests are permutations within strata, intervals bootstraps.

    Parameters
    ----------
    name
        What to call it, in ``metrics={"race": name}`` and in the report.
    protected, output
        The kinds it accepts: ``"binary"``, ``"categorical"``, ``"ordered"``, ``"numeric"``, or several of them.
    phrase
        What the number is, for a reader.

    Examples
    --------
    >>> @metric("gap", protected="binary", output="binary")
    ... def gap(counts):
    ...     rates = counts[..., 1, :].sum(axis=-2) / counts.sum(axis=(-3, -2))
    ...     return rates[..., 1] - rates[..., 0]
    >>> gap.accepts(Kind.BINARY, Kind.BINARY)
    True
    """
    kinds = {role: _kinds(given, role) for role, given in (("protected", protected), ("output", output))}
    if not isinstance(name, str) or not name:
        raise InputError(f"The 'name' of a metric must be a non-empty text. Got {name!r} instead.")
    if name.casefold() in BUILT_IN:
        raise InputError(f"The metric {name!r} exists already. Choose another name for yours.")
    rows = any(Kind.NUMERIC in k for k in kinds.values())

    def declare(function: Callable[..., Any]) -> Metric:
        return register(
            Metric(
                name=name,
                phrase=phrase or name,
                protected=kinds["protected"],
                output=kinds["output"],
                summary=SummaryKind.ROWS if rows else SummaryKind.COUNTS,
                effect=function if rows else _of_counts(function),
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
