"""Options of the commands of the service, and the message where its libraries are missing."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairtest.cli.helping import Option, section
from fairtest.data.sizes import as_bytes
from fairtest.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from fairtest.service.settings import Settings

STORE = section(
    "Store",
    Option(
        "--data DIR",
        "The folder of the secret, and of the database and segments unless they are elsewhere.",
        essential=True,
        default="fairtest-data",
        show_default=True,
        envvar="FAIRTEST_DATA",
    ),
    Option(
        "--database URL",
        "postgresql://USER@HOST/NAME, or sqlite:///FILE. Default: a SQLite file in the folder.",
        essential=True,
        default="",
        envvar="FAIRTEST_DATABASE",
    ),
    Option(
        "--segments WHERE",
        "'database', a folder or s3://BUCKET/PREFIX. Default: a folder with SQLite, the database with PostgreSQL.",
        default="",
        envvar="FAIRTEST_SEGMENTS",
    ),
)

ALERTS = section(
    "Alerts",
    Option(
        "--allow-private NETWORK",
        "A network that webhooks may reach although it is not public, such as 10.1.0.0/16; repeat for several.",
        multiple=True,
        envvar="FAIRTEST_ALLOW_PRIVATE",
    ),
    Option(
        "--public-url URL",
        "The address of the service for people, used in the links of alerts. The mail server is set by FAIRTEST_SMTP.",
        default="",
        envvar="FAIRTEST_PUBLIC_URL",
    ),
)

RUNS = section(
    "Runs",
    Option(
        "--run-memory SIZE",
        "The memory that a run may take, such as 8GB; a run that needs more fails and says so. Default: three "
        "quarters of the machine's.",
        default="",
        envvar="FAIRTEST_RUN_MEMORY",
    ),
)


def read_settings(options: Mapping[str, Any]) -> Settings:
    """Return the settings that options name."""
    from fairtest.service.settings import Settings

    alerts = {"allow_private": tuple(options.get("allow_private", ())), "public_url": options.get("public_url", "")}
    more: dict[str, Any] = {"rate": options["rate"]} if "rate" in options else {}
    if options.get("run_memory"):
        more["run_memory"] = as_bytes(options["run_memory"], "--run-memory")
    settings = Settings(Path(options["data"]), options["database"], options["segments"], **alerts, **more)
    _ = settings.alerts  # what is wrong with them is said now, and not when the first alert is due
    return settings


@contextmanager
def needing_the_service() -> Iterator[None]:
    """Say what to install where a library of the service is missing."""
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("fairtest"):
            raise
        raise InputError(
            f"This needs the service, and {error.name!r} is not installed: pip install 'fairtest[service]'."
        ) from None
