"""``fairtest ingest``: a file of records to a service."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from pathlib import Path

import click

from fairtest.cli.helping import Option, command, section
from fairtest.exceptions import InputError

SEND = section(
    "Send",
    Option("--stream NAME", "The stream that the records belong to.", essential=True, required=True),
    Option("--url ADDRESS", "Where the service is.", essential=True, default="http://localhost:8000", show_default=True,
           envvar="FAIRTEST_PUBLIC_URL"),
    Option("--format NAME", "csv or ndjson. Default: by the ending of the file.", choices=("csv", "ndjson"),
           essential=True),
    Option("--batch NUMBER", "The number of records in a request.", type=click.IntRange(1, 50_000), default=5000,
           show_default=True),
    Option("--patience SECONDS", "How long to keep trying while the service does not accept records.",
           type=click.FloatRange(0), default=600.0, show_default=True),
)  # fmt: skip


@command(SEND)
@click.argument("file", metavar="FILE")
def ingest(file: str, stream: str, url: str, format: str | None, batch: int, patience: float) -> None:  # noqa: A002
    """Send the records of FILE to a service; - reads them from standard input.

    The key is in FAIRTEST_KEY, or in a file that FAIRTEST_KEY_FILE names.
    Running the same command again stores nothing twice, even after an interruption.

    Examples
    --------
      fairtest ingest loans.csv --stream loans
      zcat decisions.ndjson.gz | fairtest ingest - --format ndjson --stream loans --url https://fairtest.example
    """
    from fairtest.service.guard.environment import read_password
    from fairtest.service.operate.sending import ENDINGS, Ingest, split_file

    kind = format or ENDINGS.get(Path(file).suffix.lower())
    if kind is None:
        raise InputError(f"Say what {file} is: --format csv or --format ndjson.")
    if not (key := read_password("FAIRTEST_KEY")):
        raise InputError("Put a key with the scope ingest into FAIRTEST_KEY, or its file into FAIRTEST_KEY_FILE.")
    sender = Ingest(url, key, stream, kind, patience=patience, say=lambda words: click.echo(words, err=True))
    if file != "-" and not Path(file).is_file():
        raise InputError(f"There is no file {file}.")
    with nullcontext(sys.stdin) if file == "-" else Path(file).open(encoding="utf-8-sig", newline="") as records:
        try:
            sent = sender.send_all(split_file(records, kind, batch))
        except UnicodeDecodeError:
            raise InputError(f"{file} must be text in UTF-8. Convert it first.") from None
    before = f", {sent.stored_before:,} of them stored before" if sent.stored_before else ""
    click.echo(f"{sent.records:,} record{'s' if sent.records != 1 else ''}{before}")
