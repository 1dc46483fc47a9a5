"""The kinds of columns that the user declares."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from fairtest.exceptions import InputError, the, unknown_name

if TYPE_CHECKING:
    from fairtest.types import Level


@dataclass(frozen=True)
class Declared:
    """The kinds that the user declares.

    Examples
    --------
    >>> Declared.of(categorical=["a"], ordered={"g": ["low", "high"]}).ordered
    {'g': ('low', 'high')}
    """

    categorical: frozenset[str] = frozenset()
    numeric: frozenset[str] = frozenset()
    ordered: Mapping[str, tuple[Level, ...]] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        *,
        categorical: Iterable[str] = (),
        numeric: Iterable[str] = (),
        ordered: Mapping[str, Iterable[Level]] | None = None,
    ) -> Declared:
        """Return the declarations after checking that they make sense by themselves."""
        if ordered is not None and not isinstance(ordered, Mapping):
            raise InputError(
                f"{the('ordered', 'parameter')} must map a column to its levels from low to high, such as "
                f"{{'grade': ['low', 'mid', 'high']}}. Got {ordered!r} instead."
            )
        found = cls(
            _names("categorical", categorical),
            _names("numeric", numeric),
            {str(name): _levels(name, levels) for name, levels in (ordered or {}).items()},
        )
        groups = {"categorical": found.categorical, "numeric": found.numeric, "ordered": set(found.ordered)}
        for name in sorted(set().union(*groups.values())):
            twice = [group for group, names in groups.items() if name in names]
            if len(twice) > 1:
                raise InputError(f"Column {name!r} is declared both {' and '.join(twice)}. Declare it once.")
        return found

    def check(self, names: Iterable[str]) -> None:
        """Raise an error if a declared column does not exist."""
        known = list(names)
        for group, declared in (
            ("categorical", self.categorical),
            ("numeric", self.numeric),
            ("ordered", self.ordered),
        ):
            for name in sorted(declared):
                if name not in known:
                    raise unknown_name("column", name, known, hint=f"It is named in {the(group, 'parameter', 'the')}.")


def _names(parameter: str, names: Iterable[str]) -> frozenset[str]:
    if isinstance(names, str):
        return frozenset([names])
    if names is None or not isinstance(names, Iterable):
        raise InputError(f"{the(parameter, 'parameter')} must be a list of column names. Got {names!r} instead.")
    return frozenset(str(name) for name in names)


def _levels(name: str, levels: Iterable[Level]) -> tuple[Level, ...]:
    found = () if isinstance(levels, str) or not isinstance(levels, Iterable) else tuple(levels)
    if not found or len(set(found)) < len(found):
        raise InputError(
            f"{the('ordered', 'parameter')} must give column {name!r} a list of different levels from low to high. "
            f"Got {levels!r} instead."
        )
    return found
