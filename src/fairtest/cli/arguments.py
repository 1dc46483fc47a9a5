"""From the text of options to what the library takes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import fairtest as ft

if TYPE_CHECKING:
    from collections.abc import Iterable


def parse_protected(name: str) -> str | tuple[str, ...]:
    """Return a protected attribute; ``A*B`` crosses two.

    Examples
    --------
    >>> parse_protected("sex"), parse_protected("sex*race")
    ('sex', ('sex', 'race'))
    """
    parts = tuple(part.strip() for part in name.split("*"))
    if not all(parts):
        raise ft.InputError(f"-p {name!r}: must be the name of a column, or several crossed with '*': 'sex*race'.")
    return parts if len(parts) > 1 else parts[0]


def parse_pairs(option: str, given: Iterable[str], example: str) -> dict[str, str]:
    """Return the values of a repeatable option ``COLUMN=VALUE`` as a mapping.

    Examples
    --------
    >>> parse_pairs("--favourable", ["income=>50K"], "income='>50K'")
    {'income': '>50K'}
    """
    found: dict[str, str] = {}
    for text in given:
        column, equals, value = text.partition("=")
        if not (column and equals and value):
            raise ft.InputError(f"{option} {text!r}: must be COLUMN=VALUE, such as {option} {example}.")
        if column in found:
            raise ft.InputError(f"{option}: the column {column!r} is given twice. Give it one value.")
        found[column] = value
    return found


def parse_favourable(given: Iterable[str], output: object) -> dict[str, str]:
    """Return the favourable value of each output; one without its column is that of the output asked about.

    Examples
    --------
    >>> parse_favourable([">50K"], "income"), parse_favourable(["income=>50K"], "income")
    ({'income': '>50K'}, {'income': '>50K'})
    """
    known = isinstance(output, str)
    return parse_pairs(
        "--favourable", [f"{output}={v}" if known and "=" not in v else v for v in given], "income='>50K'"
    )


def parse_orders(given: Iterable[str]) -> dict[str, list[str]]:
    """Return the values of ``--ordered`` as a mapping from a column to its levels, low to high.

    Examples
    --------
    >>> parse_orders(["grade=low<mid<high"])
    {'grade': ['low', 'mid', 'high']}
    """
    pairs = parse_pairs("--ordered", given, "'grade=low<mid<high'")
    return {column: [level.strip() for level in levels.split("<")] for column, levels in pairs.items()}


def parse_metrics(given: Iterable[str], protected: Iterable[str]) -> dict[str | tuple[str, ...], str]:
    """Return the metric of each protected attribute named, from ``race=NMI``, or ``NMI`` for all.

    Examples
    --------
    >>> parse_metrics(["NMI", "sex=DIFF"], ["sex", "race"])
    {'sex': 'DIFF', 'race': 'NMI'}
    """
    found: dict[str | tuple[str, ...], str] = {}
    for text in sorted(given, key=lambda text: "=" in text):
        column, _, metric = text.rpartition("=")
        names = [column] if column else list(protected)
        found.update({parse_protected(name): metric for name in names})
    return found


def parse_delimiter(delimiter: str | None) -> str | None:
    r"""Return the delimiter; ``\t`` and ``tab`` mean a tabulator.

    Examples
    --------
    >>> parse_delimiter(r"\t"), parse_delimiter(";")
    ('\t', ';')
    """
    return "\t" if delimiter in (r"\t", "tab") else delimiter


def parse_labels(given: Iterable[str]) -> dict[str, str | dict[str, str]]:
    """Return the values of ``--label`` as a mapping from a column to its words, or to those of its values.

    Where both are given, the column itself goes by the empty value.

    Examples
    --------
    >>> parse_labels(["sex:Female=women", "sex=gender", "job=profession"])
    {'sex': {'Female': 'women', '': 'gender'}, 'job': 'profession'}
    """
    found: dict[str, dict[str, str]] = {}
    for text in given:
        target, equals, words = text.rpartition("=")
        column, _, value = target.partition(":")
        if not (column and equals and words.strip()):
            raise ft.InputError(
                f"--label {text!r}: must be COLUMN:VALUE=WORDS or COLUMN=WORDS: --label sex:Female=women."
            )
        known = found.setdefault(column, {})
        if value in known:
            raise ft.InputError(f"--label: {target!r} is given twice. Give it words once.")
        known[value] = words
    return {column: words[""] if set(words) == {""} else words for column, words in found.items()}
