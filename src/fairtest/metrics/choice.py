"""Which metrics there are, and which one fits a pair of attributes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairtest.exceptions import InputError, in_python, setting, unknown_name
from fairtest.metrics.correlation import CORR
from fairtest.metrics.correlation_ratio import ETA
from fairtest.metrics.difference import DIFF
from fairtest.metrics.mean import MEAN
from fairtest.metrics.mutual_information import NMI
from fairtest.metrics.rank_correlation import RANK
from fairtest.metrics.ratio import RATIO
from fairtest.metrics.registry import Metric, named_metrics, register
from fairtest.types import Kind, SummaryKind

if TYPE_CHECKING:
    from fairtest.metrics.scale import Scale

BUILT_IN = tuple(map(register, (DIFF, RATIO, NMI, MEAN, CORR, ETA, RANK)))
TAKEN = frozenset({"reg", *(metric.name.casefold() for metric in BUILT_IN)})
"""Names that a metric of one's own cannot have."""

_DEFAULTS = {
    "binary": {"binary": DIFF, "categorical": NMI, "number": MEAN},
    "categorical": {"binary": NMI, "categorical": NMI, "number": ETA},
    "number": {"binary": CORR, "categorical": ETA, "number": CORR},
}
_NUMBERS = (Kind.ORDERED, Kind.NUMERIC)


def find_metric(name: str | Metric) -> Metric:
    """Return the metric of a name, whatever its case."""
    if isinstance(name, Metric):
        return name
    known = {k.casefold(): m for k, m in dict(named_metrics()).items()}  # a copy: another thread may register one
    if str(name).casefold() not in known:
        raise unknown_name("metric", name, named_metrics())
    return known[str(name).casefold()]


def default_metric(protected: Kind, output: Kind) -> Metric:
    """Return the metric for a pair of kinds when the user names none.

    Examples
    --------
    >>> default_metric(Kind.BINARY, Kind.BINARY).name, default_metric(Kind.CATEGORICAL, Kind.NUMERIC).name
    ('DIFF', 'ETA')
    >>> default_metric(Kind.ORDERED, Kind.NUMERIC).name
    'RANK'
    """
    if protected in _NUMBERS and output in _NUMBERS and Kind.ORDERED in (protected, output):
        return RANK
    row, column = ("number" if kind in _NUMBERS else kind.value for kind in (protected, output))
    return _DEFAULTS[row][column]


def unsigned_metric(protected: Kind, output: Kind) -> Metric | None:
    """Return the metric without direction for a pair of kinds; None where both are numbers.

    Opposite effects in different strata do not cancel in it.

    Examples
    --------
    >>> unsigned_metric(Kind.BINARY, Kind.BINARY).name
    'NMI'
    """
    numbers = (protected is Kind.NUMERIC) + (output is Kind.NUMERIC)
    return (NMI, ETA, None)[numbers]


def fitting_metric(named: str | Metric | None, protected: tuple[str, Kind], output: tuple[str, Kind]) -> Metric:
    """Return the named metric, or the default one, after checking that it fits the two attributes."""
    (s_name, s_kind), (o_name, o_kind) = protected, output
    if named is None:
        return default_metric(s_kind, o_kind)
    chosen = find_metric(named)
    if chosen.accepts(s_kind, o_kind):
        return chosen
    fits = [name for name, m in dict(named_metrics()).items() if m.accepts(s_kind, o_kind)]
    raise InputError(
        f"The metric {chosen.name} does not fit: {s_name!r} is {s_kind.value} and {o_name!r} is {o_kind.value}. For "
        f"this pair use one of {', '.join(fits)}, or declare another kind ({setting('categorical', [...])}, "
        f"{setting('numeric', [...])}, {setting('ordered', {...})}{in_python(' of DataSource')})."
    )


def reported_metric(name: str) -> Metric:
    """Return the metric that a report names.

    A report may be older than this process, and its metric one that the user has not declared in it: then no more is
    known of it than its name.
    """
    known = named_metrics().get(name)
    return known or Metric(name, name, frozenset(), frozenset(), SummaryKind.COUNTS, effect=lambda _: None)


def scale_for(name: str, population: float | None = None) -> Scale:
    """Return how the effects of an attribute are written: one choice for all its findings.

    Parameters
    ----------
    name
        The metric that the report names.
    population
        The effect in the whole population; a weak one asks for a digit more.

    Examples
    --------
    >>> scale_for("NMI", 0.045).estimate(0.0944), scale_for("NMI", 0.0088).estimate(0.0088)
    ('0.094', '0.0088')
    """
    return reported_metric(name).scale.for_effect(population)
