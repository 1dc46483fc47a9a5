"""The whole grid of designs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from calibration.designs.correlations import conditional_correlations, correlations
from calibration.designs.groups import conditional_one_ways, one_ways, rare_one_ways
from calibration.designs.means import conditional_mean_differences, mean_differences
from calibration.designs.ranks import conditional_ranks, ranks
from calibration.designs.rates import conditional_rates, differences, ratios
from calibration.designs.tables import conditional_tables, large_tables, tables

if TYPE_CHECKING:
    from calibration.designs.base import Design

__all__ = ["designs"]


def designs() -> list[Design]:
    """Return all designs, metric by metric."""
    return [
        *differences(),
        *ratios(),
        *conditional_rates("DIFF"),
        *conditional_rates("RATIO"),
        *tables(),
        *large_tables(),
        *conditional_tables(),
        *mean_differences(),
        *conditional_mean_differences(),
        *correlations(),
        *conditional_correlations(),
        *one_ways(),
        *rare_one_ways(),
        *conditional_one_ways(),
        *ranks(),
        *conditional_ranks(),
    ]
