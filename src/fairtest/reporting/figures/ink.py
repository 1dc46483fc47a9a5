"""Colours of a terminal. They only repeat what words and shapes say, so that nothing is lost without them."""

from __future__ import annotations

from dataclasses import dataclass

_END = "\x1b[0m"


@dataclass(frozen=True)
class Ink:
    r"""Gives text a style, or leaves it as it is. The colours are the terminal's own, so that they suit its ground.

    Examples
    --------
    >>> Ink(color=True).strong("Income differs"), Ink(color=False).strong("Income differs")
    ('\x1b[1mIncome differs\x1b[0m', 'Income differs')
    """

    color: bool

    def strong(self, text: str) -> str:
        """Return text as an answer or a heading."""
        return self._style("1", text)

    def soft(self, text: str) -> str:
        """Return text in the background: rules and axes."""
        return self._style("2", text)

    def first(self, text: str) -> str:
        """Return a mark of the first group that a sentence names."""
        return self._style("34", text)

    def second(self, text: str) -> str:
        """Return a mark of the second group that a sentence names."""
        return self._style("33", text)

    def strength(self, text: str) -> str:
        """Return a mark of an effect."""
        return self._style("35", text)

    def _style(self, code: str, text: str) -> str:
        return f"\x1b[{code}m{text}{_END}" if self.color and text.strip() else text
