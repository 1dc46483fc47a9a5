"""``fairtest key``, ``seal``, ``migrate``, ``verify``, ``backup`` and ``restore``: keeping a service."""

from __future__ import annotations

import datetime as dt
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fairtest.cli.errors import FOUND
from fairtest.cli.helping import Option, command, section
from fairtest.cli.service_options import STORE, needing_the_service, read_settings
from fairtest.exceptions import InputError

if TYPE_CHECKING:
    from fairtest.service.service import Service

SCOPES = ("ingest", "read", "manage", "metrics")
KEY = section(
    "Key",
    Option("--project NAME", "The project that the key belongs to; it is made if there is none. Default: all of them.",
           essential=True),
    Option("--scope NAME", "What the key may do: ingest, read, manage or metrics; repeat for several.", essential=True,
           multiple=True, choices=SCOPES),
    Option("--label TEXT", "A description of the key.", default=""),
    Option("--days NUMBER", "After how many days it expires. Default: never.", type=click.FloatRange(0, min_open=True)),
)  # fmt: skip


@command(KEY, STORE)
@click.argument("action", type=click.Choice(["new", "list", "revoke"]))
@click.argument("key_id", metavar="[ID]", required=False)
def key(action: str, key_id: str | None, **options: Any) -> None:
    """Make, list or revoke the keys of a service; ACTION is new, list or revoke.

    A new key is shown once and stored nowhere; revoking takes its ID.

    Examples
    --------
      fairtest key new --project loans --scope ingest --label "web server"
      fairtest key list --project loans
      fairtest key revoke 4sPQm1Zk07Yb
    """
    with needing_the_service():
        from fairtest.service.service import Service

        if (action == "revoke") != (key_id is not None):
            raise InputError("Only 'revoke' takes the ID of a key, and it needs one: fairtest key revoke ID.")
        with Service(read_settings(options)) as service:
            {"new": _new, "list": _list, "revoke": _revoke}[action](service, key_id, options)


@command(STORE)
def seal(**options: Any) -> None:
    """Seal all batches that wait, and erase what is to be erased, now.

    Workers do that by themselves after some minutes.

    Examples
    --------
      fairtest seal --data /var/lib/fairtest
    """
    with needing_the_service():
        from fairtest.service.service import Service
        from fairtest.service.store.erasure import erase_stream, streams_to_erase
        from fairtest.service.store.sealing import seal_stream
        from fairtest.service.work.jobs import streams_to_seal

        with Service(read_settings(options)) as service:
            for project, name in streams_to_seal(service, after=-1):
                click.echo(f"{project}/{name}: sealed up to batch {seal_stream(service, project, name)}")
            for project, name in streams_to_erase(service):
                done = erase_stream(service, project, name)
                click.echo(f"{project}/{name}: {'erased' if done else 'hidden; a run is still reading'}")


@command(STORE)
def migrate(**options: Any) -> None:
    """Bring the tables of the database up to date; starting the service does that too.

    Examples
    --------
      fairtest migrate --database postgresql://fairtest@db/fairtest
    """
    with needing_the_service():
        from fairtest.service.service import Service
        from fairtest.service.store.migrate import current_revision

        with Service(read_settings(options)) as service, service.database.reading() as connection:
            click.echo(f"the tables are at {current_revision(connection)}")


@command(STORE)
@click.pass_context
def verify(ctx: click.Context, /, **options: Any) -> None:
    """Check that a store is whole: hashes, windows, the audit trail, everything acknowledged there once.

    Exits with 1 if something is wrong.

    Examples
    --------
      fairtest verify --data /var/lib/fairtest
    """
    with needing_the_service():
        from fairtest.service.operate.verify import verify as check
        from fairtest.service.service import Service

        with Service(read_settings(options)) as service:
            wrong = check(service)
    for what in wrong:
        click.echo(what)
    click.echo("nothing is wrong" if not wrong else f"wrong: {len(wrong)}", err=True)
    ctx.exit(FOUND if wrong else 0)


@command(STORE)
@click.argument("file", metavar="FILE")
def backup(file: str, **options: Any) -> None:
    """Write everything that the service keeps to FILE, as it is at this moment; the service keeps running.

    Only the secret is left out. Keep the file secret.key of the data folder apart from the archive: restoring needs
    both. The archive holds people's records; only its owner can read it.

    Examples
    --------
      fairtest backup /backups/fairtest-2026-11-18.tar --data /var/lib/fairtest
    """
    with needing_the_service():
        from fairtest.service.operate.backup import back_up
        from fairtest.service.service import SECRET_FILE, Service

        settings = read_settings(options)
        with Service(settings) as service:
            made = back_up(service, Path(file))
    click.echo(f"{file}: {sum(made['rows'].values()):,} rows and {made['segments']:,} segments")
    click.echo(f"Keep {settings.data / SECRET_FILE} as well, in another place: restoring needs it.", err=True)


RESTORE = section(
    "Restore",
    Option("--erasures FILE", "A journal of erasures (erasures.jsonl) or a newer archive: whom it names stays erased; "
           "repeat for several.", multiple=True, essential=True),
)  # fmt: skip


@command(RESTORE, STORE)
@click.argument("file", metavar="FILE")
def restore(file: str, erasures: tuple[str, ...], **options: Any) -> None:
    """Fill an empty database from FILE, which fairtest backup wrote; it may be of the other kind.

    The data folder must have the secret.key of the service that made the archive. Whoever was erased since then is
    erased again: from the journal erasures.jsonl, if it is in the data folder, and from what --erasures names.

    Examples
    --------
      fairtest restore fairtest-2026-11-18.tar --data /var/lib/fairtest
      fairtest restore fairtest-2026-11-18.tar --database postgresql://fairtest@db/fairtest
    """
    with needing_the_service():
        from fairtest.service.operate.restore import restore as fill

        done = fill(read_settings(options), Path(file), [Path(each) for each in erasures])
    click.echo(f"{done['rows']:,} rows and {done['segments']:,} segments, as of {done['made']}")
    if done["erased"]:
        click.echo(f"erased since then, and again now: {done['erased']:,}")


def _new(service: Service, _: str | None, options: dict[str, Any]) -> None:
    from fairtest.service.errors import Conflict
    from fairtest.service.store.projects import create_key, create_project

    if not options["scope"]:
        raise InputError(f"A key needs at least one --scope: {', '.join(SCOPES)}.")
    if (project := options["project"]) is not None:
        with suppress(Conflict):
            create_project(service.database, "command line", project)
    expires = None if options["days"] is None else time.time() + 86400 * options["days"]
    made, _stored = create_key(service.database, "command line", project, options["scope"], options["label"], expires)
    click.echo(made.text)
    click.echo("Keep it now: it is shown once.", err=True)


def _list(service: Service, _: str | None, options: dict[str, Any]) -> None:
    from fairtest.service.store.projects import list_keys

    for each in list_keys(service.database, options["project"], limit=10_000):
        state = "revoked" if each.revoked else "expired" if each.expires and each.expires < time.time() else "valid"
        used = "never used" if each.last_used is None else f"used {_day(each.last_used)}"
        owner = each.project or "(all projects)"
        click.echo(f"{each.id}  {owner}  {','.join(sorted(each.scopes))}  {state}  {used}  {each.label}".rstrip())


def _revoke(service: Service, key_id: str | None, options: dict[str, Any]) -> None:
    from fairtest.service.store.projects import revoke_key

    revoke_key(service.database, "command line", key_id or "", options["project"])
    click.echo(f"the key {key_id} is revoked")


def _day(moment: float) -> str:
    return dt.datetime.fromtimestamp(moment, dt.UTC).date().isoformat()
