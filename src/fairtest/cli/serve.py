"""``fairtest serve`` and ``fairtest worker``: the monitoring service."""

from __future__ import annotations

import sys
from typing import Any

import click

from fairtest.cli.helping import Option, command, section
from fairtest.cli.service_options import ALERTS, RUNS, STORE, needing_the_service, read_settings

LISTEN = section(
    "Listen",
    Option(
        "--host ADDRESS",
        "The address to listen on; other machines can reach the service only with a key and TLS.",
        essential=True,
        default="127.0.0.1",
        show_default=True,
        envvar="FAIRTEST_HOST",
    ),
    Option(
        "--port NUMBER",
        "The port; 0 takes a free one.",
        essential=True,
        type=click.IntRange(0, 65535),
        default=8000,
        show_default=True,
        envvar="FAIRTEST_PORT",
    ),
    Option("--behind-proxy", "A proxy in front adds TLS; its headers about clients are trusted.", is_flag=True),
    Option(
        "--rate NUMBER",
        "The number of requests that a key may send in a second; 0 for no limit.",
        type=click.FloatRange(0),
        default=2000.0,
        show_default=True,
        envvar="FAIRTEST_RATE",
    ),
    Option("--tls-cert FILE", "The certificate to speak TLS with.", default="", envvar="FAIRTEST_TLS_CERT"),
    Option("--tls-key FILE", "The key of the certificate.", default="", envvar="FAIRTEST_TLS_KEY"),
)
WORK = section(
    "Work",
    Option(
        "--workers NUMBER",
        "The number of processes that seal, erase and run monitors.",
        type=click.IntRange(0, 64),
        default=1,
        show_default=True,
        envvar="FAIRTEST_WORKERS",
    ),
)


@command(LISTEN, STORE, WORK, RUNS, ALERTS)
def serve(workers: int, **options: Any) -> None:
    """Run the monitoring service: it takes records over HTTP, keeps them, and runs monitors.

    Needs fairtest[service]. Everything is in one folder unless a database is named. Stop it with Ctrl-C or SIGTERM:
    what was taken is stored.

    Examples
    --------
      fairtest key new --project loans --scope ingest --scope read --scope manage
      fairtest serve --data /var/lib/fairtest
      fairtest serve --host 0.0.0.0 --behind-proxy --database postgresql://fairtest@db/fairtest
    """
    with needing_the_service():
        from fairtest.service.operate.lines import Lines
        from fairtest.service.operate.starting import Listening
        from fairtest.service.operate.supervisor import serve as run

        names = ("host", "port", "behind_proxy", "tls_cert", "tls_key")
        listening = Listening(**{name: options[name] for name in names})
        # whoever looks after the processes must not wait for whoever reads what it says
        lines = Lines(sys.stderr, lambda count: f"{count} lines were dropped: nobody read them")
        try:
            run(read_settings(options), listening, workers, lines.write)
        finally:
            lines.flush()


@command(STORE, RUNS, ALERTS)
def worker(**options: Any) -> None:
    """Run a worker alone, on any machine that reaches the database: it seals, erases and runs monitors.

    The folder must have the secret.key of the service.

    Examples
    --------
      fairtest worker --database postgresql://fairtest@db/fairtest
    """
    with needing_the_service():
        from fairtest.service.operate.child import run_worker
        from fairtest.service.operate.logs import configure_logs

        configure_logs("worker")
        click.echo("the worker has started", err=True)
        sys.stderr.flush()
        run_worker(read_settings(options))
