"""The ``fairtest`` command: its subcommands, and the way in."""

from __future__ import annotations

import sys

import click

from fairtest import __version__
from fairtest.cli.compare import compare
from fairtest.cli.completion import completion
from fairtest.cli.demo import demo
from fairtest.cli.discover import discover
from fairtest.cli.errors import EXITS, CarefulGroup
from fairtest.cli.explain import explain
from fairtest.cli.helping import traceback_option
from fairtest.cli.ingest import ingest
from fairtest.cli.init import init
from fairtest.cli.inspect import inspect
from fairtest.cli.keep import backup, key, migrate, restore, seal, verify
from fairtest.cli.profile import errors
from fairtest.cli.report import report
from fairtest.cli.serve import serve, worker
from fairtest.cli.signin import signin
from fairtest.cli.status import status
from fairtest.cli.test import test

EPILOG = "\b\nExit codes:\n" + "\n".join(f"  {code:<4} {meaning}" for code, meaning in EXITS.items())


@click.group(cls=CarefulGroup, params=[traceback_option()], epilog=EPILOG)
@click.version_option(__version__, "--version", prog_name="fairtest", message="%(prog)s %(version)s")
def cli() -> None:
    """Find where an application treats people unfairly, and say how sure that is.

    FairTest searches a table of people for groups in which an output is associated with a protected attribute, tests
    each group on people the search has not seen, and reports what holds.

    \b
    Start here:
      fairtest demo
      fairtest inspect people.csv
      fairtest test people.csv -p sex -o income
    """  # noqa: D301 - click's mark for lines that stay as they are


_AUDITS = (demo, inspect, test, discover, errors, init, status, explain, report, compare)
_SERVICE = (serve, worker, signin, key, seal, migrate, verify, backup, restore, ingest)
for _command in (*_AUDITS, *_SERVICE, completion):
    cli.add_command(_command)


def main() -> None:
    """Run the command and exit."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a terminal that lacks a character shows a question mark
            stream.reconfigure(errors="replace")
    cli.main(prog_name="fairtest")


if __name__ == "__main__":
    main()
