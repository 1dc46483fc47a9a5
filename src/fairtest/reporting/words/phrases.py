"""Parts of sentences: attributes, groups and contexts, and which of them a sentence names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairtest.model.context import Op
from fairtest.model.finding import Finding
from fairtest.model.names import PLAIN_NAMES, Names, clean_line, column_words, level_words
from fairtest.numbers import count, decimals_for, digits

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from fairtest.model.context import Context, Predicate
    from fairtest.model.finding import CountTable, Group, GroupTable, Stratum, Tested
    from fairtest.types import Level

_SMALL = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]


def be(noun: str) -> str:
    """Return "is" or "are", whichever goes with the name of a column.

    Examples
    --------
    >>> be("earnings"), be("hours per week"), be("wage"), be("visits"), be("loss")
    ('are', 'are', 'is', 'are', 'is')
    """
    first = noun.split(" per ", maxsplit=1)[0].split(" of ", maxsplit=1)[0].lower()
    return "are" if first.endswith("s") and not first.endswith(("ss", "us", "is", "ics", "gas")) else "is"


def capitalise(text: str) -> str:
    """Return text with a capital first letter, the others as they are."""
    return text[:1].upper() + text[1:]


def join_words(parts: Sequence[str], last: str = "and") -> str:
    """Return a list in words.

    Examples
    --------
    >>> join_words(["a", "b", "c"])
    'a, b and c'
    """
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} {last} {parts[-1]}"


def number_words(number: int) -> str:
    """Return a small number as a word.

    Examples
    --------
    >>> number_words(7), number_words(40)
    ('seven', '40')
    """
    return _SMALL[number] if number < len(_SMALL) else count(number)


def plural(number: int, one: str, several: str | None = None, *, in_words: bool = False) -> str:
    """Return so many things.

    Examples
    --------
    >>> plural(1, "hypothesis", "hypotheses"), plural(1200, "group"), plural(2, "group", in_words=True)
    ('1 hypothesis', '1,200 groups', 'two groups')
    """
    return f"{(number_words if in_words else count)(number)} {one if number == 1 else several or one + 's'}"


def context_words(context: Context, names: Names = PLAIN_NAMES) -> str:
    """Return a context in words: ``age above 46 and up to 60, and job Sales``."""
    by_column: dict[str, list[Predicate]] = {}
    for predicate in context.predicates:
        by_column.setdefault(predicate.column, []).append(predicate)
    parts = [f"{names.column(column)} {' and '.join(map(_condition, ps))}" for column, ps in by_column.items()]
    return join_words(parts) if parts else "everyone"


def finding_title(part: Finding | Tested, everyone: str = "Everyone") -> str:
    """Return the context of a finding as it is written, after its label if it has one."""
    where = clean_line(str(part.context)) if len(part.context) else everyone
    label = part.label if isinstance(part, Finding) else None
    return where if label is None else f"{clean_line(label)}: {where}"


def _condition(predicate: Predicate) -> str:
    value = predicate.value
    if predicate.op is Op.MISSING or value is None:
        return "missing"
    if isinstance(value, tuple):
        return join_words([level_words(v) for v in value], "or") if value else "“”"
    words = {Op.AT_MOST: "up to ", Op.ABOVE: "above "}
    return words.get(predicate.op, "") + level_words(value)


def subject_words(finding: Finding, names: Names) -> str:
    """Return the beginning of a finding's sentence: whom it is about."""
    some = f" with {names.some}" if names.some else ""
    if len(finding.context) == 0:
        return f"In the whole population ({names.number_of(finding.size)}{some}),"
    where = f"{some} and" if some else " with"
    return f"Among the {names.number_of(finding.size)}{where} {context_words(finding.context, names)},"


def choose_row(table: CountTable, least: int) -> int:
    """Return the output that a sentence is about: of two the last, else the one whose share varies most."""
    if len(table.rows) <= 2:
        return len(table.rows) - 1
    groups = large_groups(table, least)

    def spread(row: int) -> float:
        shares = [share for g in groups if (share := table.shares(row)[g]) is not None]
        return max(shares) - min(shares) if shares else 0.0

    return max(range(len(table.rows)), key=spread)


def large_groups(table: CountTable, least: int) -> list[int]:
    """Return the groups large enough to be named, or else the two largest."""
    sizes = table.sizes
    big = [g for g, n in enumerate(sizes) if n >= max(least, 1)]
    if len(big) >= 2:
        return big
    return sorted(sorted((g for g, n in enumerate(sizes) if n), key=lambda g: (-sizes[g], g))[:2])


def choose_groups(table: CountTable, least: int) -> tuple[int, ...]:
    """Return the groups a sentence names, in its order: the compared one and the reference, or lowest and highest."""
    if len(table.columns) == 2:
        return (1, 0)
    shares = table.shares(choose_row(table, least))
    groups = sorted(large_groups(table, least), key=lambda g: (shares[g] or 0.0, g))
    return (groups[0], groups[-1]) if len(groups) > 1 else tuple(groups)


def outcome_words(finding: Finding, value: Level, names: Names, *, noun: bool = False) -> str:
    """Return what happens to some people: ``have income = >50K``; as a noun, ``the share with income = >50K``."""
    if finding.label is not None:
        label = clean_line(finding.label)
        return f"the share that gets the label {label}" if noun else f"get the label {label}"
    if names.outcome:
        return f"the share that {names.outcome}" if noun else names.outcome
    if (known := names.outcomes.get(str(value))) is not None:
        return known.share if noun else known.verb
    has = f"{names.column(finding.output)} = {level_words(value)}"
    return f"the share with {has}" if noun else f"have {has}"


def bin_words(attribute: str, name: Level, names: Names) -> str:
    """Return a bin in words; a range names its attribute already, a single value does not."""
    words, called = level_words(name), names.column(attribute)
    if not is_bin(attribute, name):
        return f"{called} {words}"
    return words if called == column_words(attribute) else words.replace(attribute, called, 1)


def is_bin(attribute: str, name: Level) -> bool:
    """Whether the name of a group is a range of a numeric attribute: ``20 < age ≤ 35``.

    Examples
    --------
    >>> is_bin("age", "20 < age ≤ 35"), is_bin("e", "Male")
    (True, False)
    """
    return isinstance(name, str) and attribute in name and any(sign in name for sign in "<≤>≥")


def shared_decimals(groups: Sequence[Group]) -> int:
    """Return how many decimals the numbers of a table by group are written with."""
    return decimals_for(n for g in groups for n in (*(g.quantiles or ()), g.mean or 0.0))


def fit_at(table: GroupTable, group: Group) -> float | None:
    """Return the height of the fitted line at a bin's mean."""
    return None if table.line is None or group.at is None else table.line.at(group.at)


def line_words(table: GroupTable, names: Names) -> str:
    """Return the fitted line as a formula; empty where there is none."""
    if table.line is None:
        return ""
    line, sign = table.line, "−" if table.line.slope < 0 else "+"
    fitted = f"{digits(line.intercept)} {sign} {digits(abs(line.slope))} × {names.column(table.by)}"
    return f"{names.column(table.measured)} = {fitted}"


def alike_words(columns: Iterable[str], names: Names) -> str:
    """Return the attributes people are alike in: ``the same department and the same year``."""
    return join_words([f"the same {names.column(column)}" for column in columns])


def is_past_none(part: Finding | Stratum) -> bool:
    """Whether an interval holds "no link"."""
    return part.interval is not None and part.interval[0] <= 0 <= part.interval[1]


def is_slight(finding: Finding, other: float) -> bool:
    """Whether a link is next to none beside another effect: its interval holds none, and it is not half as large.

    That it goes the other way, as the test says, would be too much said of it.
    """
    return finding.effect is not None and is_past_none(finding) and abs(finding.effect) <= abs(other) / 2
