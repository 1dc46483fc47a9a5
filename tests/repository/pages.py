"""Runs the code of a page of documentation, block by block, and compares what it shows with what comes out.

- ``python`` blocks run in order, in one namespace; a ``text`` block that follows is what they print.
- ``console`` blocks hold commands (``$ fairtest …``), each with what it prints; ``$ echo $?`` shows its exit code. Of
  other commands, ``cat``, ``head -n``, ``mkdir`` and ``cp`` are understood.
- ``toml``, ``json`` and ``yaml`` blocks must be readable; ``<!-- file: name -->`` before any block writes it to a file.
- ``...`` in an output stands for anything. Output that is not shown is not compared.
- ``<!-- not run: reason -->`` before a block leaves it alone.

``python tests/repository/pages.py docs/tutorial.md`` writes the outputs that come out into a page.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import json
import os
import re
import shlex
import shutil
import sys
import tempfile
import tomllib
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from click.testing import CliRunner

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[2]
_FENCE = re.compile(r"^```(?P<kind>[^\n`]*)\n(?P<body>.*?)^```$", re.DOTALL | re.MULTILINE)
_MARK = re.compile(r"<!-- (?P<what>not run|file): (?P<value>[^>]+?) -->\s*\Z")
_CHECKER = doctest.OutputChecker()


@dataclass(frozen=True)
class Block:
    """A fenced block: what it is, what stands in it, where, and the mark before it."""

    kind: str
    body: str
    line: int
    start: int
    end: int
    mark: tuple[str, str] | None = None


@dataclass
class Page:
    """A page with what its code has made so far."""

    text: str
    names: dict[str, Any] = field(default_factory=lambda: {"__name__": "__page__"})
    printed: str = ""
    code: int = 0


@contextlib.contextmanager
def own_metrics() -> Iterator[None]:
    """Forget, afterwards, the metrics that a page declares."""
    import_module("fairtest.metrics.choice")  # loads the built-in ones
    from fairtest.metrics.registry import named_metrics

    before = dict(named_metrics())
    try:
        yield
    finally:
        named_metrics().clear()
        named_metrics().update(before)


def blocks_of(text: str) -> list[Block]:
    """Return the fenced blocks of a page, in order; directives of the site are none."""
    found = []
    for match in _FENCE.finditer(text):
        mark = _MARK.search(text[: match.start()])
        line = text.count("\n", 0, match.start()) + 1
        given = None if mark is None else (mark["what"], mark["value"])
        if not match["kind"].startswith("{"):
            found.append(Block(match["kind"].strip(), match["body"], line, *match.span("body"), given))
    return found


def outputs_of(text: str) -> list[tuple[Block, str, str]]:
    """Run a page in the current folder; return each output that it shows, with what really came out."""
    page, compared = Page(text), []
    last: Block | None = None
    for block in blocks_of(text):
        if block.mark is not None and block.mark[0] == "not run":
            last = None
            continue
        if block.mark is not None:
            Path(block.mark[1]).write_text(block.body, "utf-8")
        if block.kind == "python" and block.mark is None:
            _run(page, block)
        elif block.kind == "console":
            compared.append((block, block.body, _typed(page, block)))
        elif block.kind == "text" and last is not None and last.kind == "python" and _adjoins(text, last, block):
            compared.append((block, block.body, page.printed))
        elif block.kind in _READERS:
            _READERS[block.kind](block.body)
        last = block
    return compared


def differs(shown: str, real: str) -> str:
    """Return how an output differs from what a page shows; empty where it does not."""
    if _CHECKER.check_output(shown, real, doctest.ELLIPSIS):
        return ""
    return f"The page shows:\n{shown}\nbut it is:\n{real}"


def _adjoins(text: str, first: Block, second: Block) -> bool:
    return not text[first.end : second.start].replace("```", "").replace("text", "").strip()


def _run(page: Page, block: Block) -> None:
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile("\n" * block.line + block.body, "page", "exec"), page.names)
    page.printed = out.getvalue()


def _typed(page: Page, block: Block) -> str:
    """Return a session as it really goes: the commands of a block, each with what it prints if that is shown."""
    lines = []
    for command, shown in _commands(block.body):
        printed = _command(page, command)
        lines.append(f"$ {command}\n" + (printed if shown else ""))
    return "".join(lines)


def _commands(body: str) -> list[tuple[str, str]]:
    commands: list[list[str]] = []
    for line in body.splitlines(keepends=True):
        if line.startswith("$ "):
            commands.append([line[2:], ""])
        elif commands and commands[-1][0].endswith("\\\n"):
            commands[-1][0] += line
        else:
            commands[-1][1] += line
    return [(command.rstrip("\n"), shown) for command, shown in commands]


def _command(page: Page, command: str) -> str:
    words = shlex.split(command.replace("\\\n", " "), comments=True)
    if words[:1] == ["fairtest"]:
        return _fairtest(page, words[1:])
    if words == ["echo", "$?"]:
        return f"{page.code}\n"
    if words[0] == "cat":
        return Path(words[1]).read_text("utf-8")
    if words[0] == "mkdir":
        Path(words[1]).mkdir()
        return ""
    if words[0] == "cp" and len(words) == 3:
        shutil.copy(words[1], words[2])
        return ""
    if words[0] == "head":
        return "".join(Path(words[3]).read_text("utf-8").splitlines(keepends=True)[: int(words[2])])
    raise ValueError(
        f"A page may type fairtest, cat, head -n, mkdir, cp and echo $?. Got {command!r}: mark the block 'not run'."
    )


def _fairtest(page: Page, words: list[str]) -> str:
    from fairtest.cli.main import cli

    result = CliRunner().invoke(cli, words, prog_name="fairtest")
    page.code = result.exit_code
    if result.exit_code not in {0, 1, 2, 3}:
        raise RuntimeError(f"fairtest {shlex.join(words)} ended with {result.exit_code}: {result.output}")
    return result.output


def _yaml(text: str) -> None:
    with contextlib.suppress(ImportError):
        import yaml

        yaml.safe_load(text)


_READERS = {"toml": tomllib.loads, "json": json.loads, "yaml": _yaml}


def rewritten(text: str) -> str:
    """Return a page with the outputs that come out in place of those that it shows."""
    for block, shown, real in reversed(outputs_of(text)):
        if differs(shown, real):
            text = text[: block.start] + real + text[block.end :]
    return text


if __name__ == "__main__":
    for name in sys.argv[1:]:
        path = Path(name).resolve()
        before = Path.cwd()
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            path.write_text(rewritten(path.read_text("utf-8")), "utf-8")
            os.chdir(before)
