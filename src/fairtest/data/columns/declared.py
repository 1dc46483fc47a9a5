"""The kinds of columns that the user declares."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, TypedDict

from fairtest.exceptions import InputError, the, unknown_name

if TYPE_CHECKING:
    from fairtest.types import Level


class KindOptions(TypedDict, total=False):
    """The arguments that declare kinds, for the type checkers of whoever passes them on."""

    categorical: Iterable[str]
    numeric: Iterable[str]
    ordered: Mapping[str, Iterable[Level]] | None


@dataclass(frozen=True)
class DeclaredKinds:
    """The kinds that the user declares: the names of columns, and the levels of ordered ones from low to high.

    Examples
    --------
    >>> DeclaredKinds.of(categorical=["a"], ordered={"g": ["low", "high"]}).ordered
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
    ) -> DeclaredKinds:
        """Return the declarations after checking that they make sense by themselves."""
        if ordered is not None and not isinstance(ordered, Mapping):
            raise InputError(
                f"{the('ordered', 'parameter')} must map a column to its levels from low to high, such as "
                f"{{'grade': ['low', 'mid', 'high']}}. Got {ordered!r} instead."
            )
        declared = cls(
            _check_names("categorical", categorical),
            _check_names("numeric", numeric),
            {str(name): _check_levels(name, levels) for name, levels in (ordered or {}).items()},
        )
        for name in sorted({*declared.categorical, *declared.numeric, *declared.ordered}):
            parameters = [f.name for f in fields(cls) if name in getattr(declared, f.name)]
            if len(parameters) > 1:
                raise InputError(f"Column {name!r} is declared both {' and '.join(parameters)}. Declare it once.")
        return declared

    def __contains__(self, name: object) -> bool:
        return name in self.categorical or name in self.numeric or name in self.ordered

    def check_columns(self, names: Iterable[str]) -> None:
        """Raise an error if a declared column does not exist."""
        known = list(names)
        for parameter in fields(self):
            for name in sorted(getattr(self, parameter.name)):
                if name not in known:
                    hint = f"It is named in {the(parameter.name, 'parameter', 'the')}."
                    raise unknown_name("column", name, known, hint=hint)


def _check_names(parameter: str, names: Iterable[str]) -> frozenset[str]:
    if isinstance(names, str):
        return frozenset([names])
    if names is None or not isinstance(names, Iterable):
        raise InputError(f"{the(parameter, 'parameter')} must be a list of column names. Got {names!r} instead.")
    return frozenset(str(name) for name in names)


def _check_levels(name: str, levels: Iterable[Level]) -> tuple[Level, ...]:
    found = () if isinstance(levels, str) or not isinstance(levels, Iterable) else tuple(levels)
    if not found or len(set(found)) < len(found):
        raise InputError(
            f"{the('ordered', 'parameter')} must give column {name!r} a list of different levels from low to high. "
            f"Got {levels!r} instead."
        )
    return found
