"""``fairtest signin``: a link to the dashboard."""

from __future__ import annotations

from typing import Any

import click

from fairtest.cli.helping import Option, command, section
from fairtest.cli.service_options import STORE, needing_the_service, read_settings

LINK = section(
    "Link",
    Option("--project NAME", "The project that the link opens. Default: all of them.", essential=True),
    Option(
        "--url ADDRESS",
        "Where the service is. Default: where it listens now, or http://localhost:8000.",
        default="",
        envvar="FAIRTEST_PUBLIC_URL",
    ),
)


@command(LINK, STORE)
def signin(project: str | None, url: str, **options: Any) -> None:
    """Print a link that signs you in to the dashboard, once and within ten minutes. There are no passwords.

    Examples
    --------
      fairtest signin --project loans
      fairtest signin --url https://fairtest.example --data /var/lib/fairtest
    """
    with needing_the_service():
        from fairtest.service.operate.starting import known_address
        from fairtest.service.pages.sessions import make_sign_in_link
        from fairtest.service.service import Service

        settings = read_settings(options)
        with Service(settings) as service:
            click.echo((url or known_address(settings)).rstrip("/") + make_sign_in_link(service, project))
