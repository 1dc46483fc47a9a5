"""The keywords of :class:`fairtest.DataSource`, for the type checkers of whoever passes them on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairtest.data.columns.declared import KindOptions

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fairtest.types import Level


class SourceOptions(KindOptions, total=False):
    """Keywords of :class:`DataSource`, for the type checkers of whoever passes them on."""

    budget: int
    conf: float
    train_size: float | None
    seed: int
    split: bool
    reuse: bool
    favourable: Mapping[str, Level] | None
    reference: Mapping[str, Level] | None
    labels: Mapping[str, str | Mapping[Any, str]] | None
    people: str | None
    outcome: str | Mapping[str, str] | None
    person: str | None
    weights: str | None
    counts: str | None
    engine: Any
    memory: str | int | None
    missing: Sequence[str]
    delimiter: str | None
    encoding: str | None
    decimal: str | None
    name: str | None
