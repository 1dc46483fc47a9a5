"""How numbers are written: counts, rates, points, p-values, effects and their intervals.

Everything is plain text with a real minus sign; :func:`typeset` puts the narrow no-break spaces of a page in.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

UNDEFINED = "–"
P_FLOOR, NEAR_FLOOR = 1e-300, 1e-297
NARROW = "\u202f"
_SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def count(number: int) -> str:
    """Return a number of people, or of anything else that is counted.

    Examples
    --------
    >>> count(48842)
    '48,842'
    """
    return f"{number:,}"


def fixed(number: float, decimals: int, *, signed: bool = False, shy: bool = False) -> str:
    """Return a number with so many decimals, a real minus, and no negative zero.

    With ``shy`` a number that would print as zero but is not gets up to two more digits.

    Examples
    --------
    >>> fixed(-32.46, 1), fixed(4.51, 1, signed=True), fixed(-0.0, 1)
    ('−32.5', '+4.5', '0.0')
    >>> fixed(-0.04, 1), fixed(-0.04, 1, shy=True)
    ('0.0', '−0.04')
    """
    if math.isinf(number):
        return "−∞" if number < 0 else "∞"
    shown = f"{abs(number):,.{decimals}f}"
    for extra in (1, 2) if shy and number else ():
        if _looks_zero(shown):
            shown = f"{abs(number):,.{decimals + extra}f}"
    if _looks_zero(shown):
        return f"{0:.{decimals}f}"
    sign = "−" if number < 0 else "+" if signed else ""
    return sign + shown


def _looks_zero(shown: str) -> bool:
    return not shown.strip("0.,")


def rate(share: float | None, decimals: int = 1) -> str:
    """Return a share of people in per cent, or a dash for a share of nobody.

    Examples
    --------
    >>> rate(0.1162), rate(0.1162, 0), rate(None)
    ('11.6 %', '12 %', '–')
    """
    return UNDEFINED if share is None else f"{fixed(100 * share, decimals, shy=True)} %"


def per_cent(share: float) -> str:
    """Return a confidence or a level in per cent with the digits it has.

    Examples
    --------
    >>> per_cent(0.95), per_cent(0.0253)
    ('95 %', '2.53 %')
    """
    return f"{round(100 * share, 2):g} %"


def rates_in_words(shares: Sequence[float]) -> list[str]:
    """Return the rates of one sentence: whole, unless one is tiny or they are close together.

    Examples
    --------
    >>> rates_in_words([0.116, 0.441]), rates_in_words([0.411, 0.419])
    (['12 %', '44 %'], ['41.1 %', '41.9 %'])
    """
    return [rate(share, 1 if need_decimals(shares) else 0) for share in shares]


def need_decimals(shares: Sequence[float]) -> bool:
    """Whether rates that are read together need a decimal to be told apart."""
    tiny = any(0 < share < 0.01 for share in shares)
    return tiny or round(max(shares) - min(shares), 9) < 0.02


def decimals_for(numbers: Iterable[float]) -> int:
    """Return how many decimals the numbers of one column deserve.

    Examples
    --------
    >>> decimals_for([1200.0, 18000.0]), decimals_for([41.2, 8.0]), decimals_for([0.012, 0.5])
    (0, 2, 3)
    """
    largest = max((abs(n) for n in numbers if math.isfinite(n)), default=0.0)
    if largest >= 1 or largest == 0:
        return 0 if largest == 0 or largest >= 1000 else 1 if largest >= 100 else 2
    return min(2 - math.floor(math.log10(largest)), 12)


def quantity(number: float | None, decimals: int) -> str:
    """Return an amount of whatever a numeric column measures.

    Examples
    --------
    >>> quantity(18123.4, 0), quantity(None, 2), quantity(2.5e17, 0)
    ('18,123', '–', '2.50e+17')
    """
    if number is None or math.isnan(number):
        return UNDEFINED
    if 1e15 <= abs(number) < math.inf:
        return f"{number:.2e}".replace("-", "−", 1) if number < 0 else f"{number:.2e}"
    return fixed(number, decimals)


def digits(number: float) -> str:
    """Return a number with three significant digits, or all that stand before the point.

    Examples
    --------
    >>> digits(0.012345), digits(-2.5), digits(18123.4), digits(2.5e-7)
    ('0.0123', '−2.5', '18,123', '2.5e-07')
    """
    shown = f"{number:,.0f}" if 1000 <= abs(number) < 1e15 else f"{number:.3g}"
    return shown.replace("-", "−", 1) if number < 0 else shown


def p_value(p: float | None) -> str:
    """Return a p-value for a terminal; it is never 0.

    Examples
    --------
    >>> p_value(0.9991), p_value(0.184), p_value(0.0153), p_value(2.2e-21), p_value(0.0)
    ('> 0.99', '0.18', '0.015', '2e-21', '< 1e-300')
    """
    if p is None or math.isnan(p):
        return UNDEFINED
    if p < NEAR_FLOOR:  # known only to be below: a floor, perhaps times a correction
        return "< 1e-300" if p < P_FLOOR else "< 1e-297"
    if p >= 0.995:
        return "> 0.99"
    if p >= 0.1:
        return f"{p:.2f}"
    if p >= 0.001:
        return f"{p:.3f}"
    digit, exponent = f"{p:.0e}".split("e")
    return f"{digit}e{int(exponent)}"


def p_statement(p: float | None, name: str = "p-value") -> str:
    """Return ``name`` and the p-value with the right sign between them.

    Examples
    --------
    >>> p_statement(0.0153), p_statement(0.0), p_statement(None)
    ('p-value = 0.015', 'p-value < 1e-300', 'p-value = –')
    """
    shown = p_value(p)
    return f"{name} {shown}" if shown[0] in "<>" else f"{name} = {shown}"


def typeset_p(p: float | None, name: str = "p") -> str:
    """Return the statement about a p-value for a page, with a power of ten where needed.

    Examples
    --------
    >>> typeset_p(2.2e-21).replace(NARROW, " "), typeset_p(0).replace(NARROW, " ")
    ('p = 2 × 10⁻²¹', 'p < 10⁻³⁰⁰')
    """
    shown = re.sub(r"< 1e(-\d+)$", lambda m: f"< 10{m[1].translate(_SUPERSCRIPT)}", p_statement(p, name))
    shown = re.sub(r"(\d)e(-\d+)$", lambda m: f"{m[1]} × 10{m[2].translate(_SUPERSCRIPT)}", shown)
    return shown.replace(" ", NARROW)


def typeset(text: str) -> str:
    """Return plain text with the narrow no-break space that belongs before a per cent sign.

    Examples
    --------
    >>> typeset("12 % of all") == f"12{NARROW}% of all"
    True
    """
    return re.sub(r"(?<=\d) %", f"{NARROW}%", text)
