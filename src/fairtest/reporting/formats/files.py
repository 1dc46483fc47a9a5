"""Writing reports to disk, whole or not at all."""

from __future__ import annotations

import re
import secrets
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from fairtest.exceptions import InputError
from fairtest.reporting.formats.registry import FORMATS, SAVED

if TYPE_CHECKING:
    from os import PathLike


class Rendered(Protocol):
    """A report that can be rendered."""

    def render(self, form: str) -> str:
        """Return the report in a format."""


def write_atomically(path: str | PathLike[str], text: str) -> Path:
    """Write ``text`` to ``path`` so that a reader sees the old file or the new one, never a part.

    Raises
    ------
    InputError
        If the folder does not exist or the path is a folder.
    """
    target = Path(path)
    if not target.parent.is_dir():
        raise InputError(f"Cannot write {str(target)!r}: the folder {str(target.parent)!r} does not exist.")
    if target.exists() and not target.is_file():
        raise InputError(
            f"Cannot write {str(target)!r}: it is {'a folder' if target.is_dir() else 'not a plain file'}."
        )
    part = target.with_name(f".{target.name[:100]}.{secrets.token_hex(6)}.part")
    try:
        with part.open("x", encoding="utf-8", errors="backslashreplace", newline="\n") as file:
            file.write(text)
        part.replace(target)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    return target


def report_folder(out_dir: str | PathLike[str]) -> Path:
    """Return a folder for reports, made if need be."""
    folder = Path(out_dir)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        why = "it is a file" if folder.exists() else str(error.strerror).lower()
        raise InputError(f"Cannot write reports into {str(folder)!r}: {why}. Name another folder.") from None
    return folder


def save(report: Rendered, out_dir: str | PathLike[str], stem: str = "report") -> list[Path]:
    """Write the report as text, HTML and JSON into a folder, made if need be, and return the three paths.

    What a file name cannot hold is left out of ``stem``.
    """
    folder = report_folder(out_dir)
    stem = re.sub(r"[^\w.-]+", "-", stem).strip("-.")[:100] or "report"
    return [write_atomically(folder / f"{stem}.{FORMATS[form].ending}", report.render(form)) for form in SAVED]
