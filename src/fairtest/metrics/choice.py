"""Which metrics there are, and which one fits a pair of attributes."""

from __future__ import annotations

from fairtest.exceptions import InputError, unknown_name
from fairtest.metrics.correlation import CORR, RANK
from fairtest.metrics.correlation_ratio import ETA
from fairtest.metrics.difference import DIFF
from fairtest.metrics.mutual_information import NMI
from fairtest.metrics.ratio import RATIO
from fairtest.metrics.registry import Metric, named_metrics, register
from fairtest.types import Kind

for _metric in (DIFF, RATIO, NMI, CORR, ETA, RANK):
    register(_metric)

_DEFAULTS = {
    "binary": {"binary": DIFF, "categorical": NMI, "number": CORR},
    "categorical": {"binary": NMI, "categorical": NMI, "number": ETA},
    "number": {"binary": CORR, "categorical": ETA, "number": CORR},
}


def find_metric(name: str | Metric) -> Metric:
    """Return the metric of a name, whatever its case."""
    if isinstance(name, Metric):
        return name
    known = {k.casefold(): m for k, m in named_metrics().items()}
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
    numbers = (Kind.ORDERED, Kind.NUMERIC)
    if protected in numbers and output in numbers and Kind.ORDERED in (protected, output):
        return RANK
    row, column = ("number" if kind in numbers else kind.value for kind in (protected, output))
    return _DEFAULTS[row][column]


def fitting_metric(named: str | Metric | None, protected: tuple[str, Kind], output: tuple[str, Kind]) -> Metric:
    """Return the named metric, or the default one, after checking that it fits the two attributes."""
    (s_name, s_kind), (o_name, o_kind) = protected, output
    if named is None:
        return default_metric(s_kind, o_kind)
    chosen = find_metric(named)
    if chosen.accepts(s_kind, o_kind):
        return chosen
    fits = [name for name, m in named_metrics().items() if m.accepts(s_kind, o_kind)]
    raise InputError(
        f"The metric {chosen.name} does not fit: {s_name!r} is {s_kind.value} and {o_name!r} is {o_kind.value}. For "
        f"this pair use one of {', '.join(fits)}, or declare another kind (categorical=[...], numeric=[...], "
        "ordered={...} of DataSource)."
    )
