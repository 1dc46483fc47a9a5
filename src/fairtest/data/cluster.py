"""The cluster a user names: reached, and fit to work, before anything is read or spent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairtest.exceptions import InputError, setting, the
from fairtest.version import __version__

if TYPE_CHECKING:
    from collections.abc import Mapping

PATIENCE = 5.0
"""How many seconds a scheduler may take to answer, and a first worker to appear."""


def is_cluster(engine: object) -> bool:
    """Whether the ``engine`` of a source names a cluster: a Dask client, or the address of a scheduler.

    Examples
    --------
    >>> is_cluster("tcp://10.0.0.7:8786"), is_cluster("memory")
    (True, False)
    """
    if isinstance(engine, str):
        return "://" in engine
    return any(c.__module__.partition(".")[0] == "distributed" for c in type(engine).__mro__)


def connect(engine: Any) -> Any:
    """Return the client of a cluster that answers and whose workers have this version of FairTest."""
    client = _client(engine) if isinstance(engine, str) else _check_client(engine)
    try:
        workers = client.sync(client.scheduler.identity, callback_timeout=PATIENCE)["workers"]
        if not workers:
            client.wait_for_workers(1, timeout=PATIENCE)
        _check_versions(_versions(client), client)
    except (OSError, TimeoutError) as error:  # what distributed raises for a lost connection is an OSError
        raise _unreachable(address_of(client), error) from error
    return client


def address_of(client: Any) -> str:
    """Return where the scheduler of a client is."""
    return str(getattr(client.scheduler, "address", "?"))


def _client(address: str) -> Any:
    try:
        from distributed import Client
    except ImportError as error:
        raise InputError(
            f"{setting('engine', address)} needs Dask, which is not installed. Install it with: pip install "
            "'fairtest[dask]'."
        ) from error
    try:
        return Client(address, timeout=PATIENCE, set_as_default=False)  # type: ignore[no-untyped-call]
    except (OSError, TimeoutError, ValueError) as error:
        raise _unreachable(address, error) from error


def _check_client(client: Any) -> Any:
    from distributed import Client

    if not isinstance(client, Client) or client.asynchronous:
        raise InputError(
            f"{the('engine', 'of DataSource')} must be a distributed.Client that is not asynchronous, or the address "
            f"of a scheduler ('tcp://host:8786'). Got {type(client).__name__} instead."
        )
    if client.status != "running":
        raise InputError(f"The Dask client given as 'engine' is {client.status}. Give one that is connected.")
    return client


def _unreachable(address: str, error: Exception) -> InputError:
    return InputError(
        f"The cluster at {address!r} does not answer, or has no workers ({type(error).__name__} within "
        f"{PATIENCE:g} seconds). Check that the scheduler and its workers run and that the address can be reached from "
        "here. Nothing was spent."
    )


def _versions(client: Any) -> Mapping[str, object]:
    def version() -> str:  # within a function, so that it travels whole, also to where there is no FairTest
        from fairtest.version import __version__ as there

        return there

    found: Mapping[str, object] = client.run(version, on_error="return")
    return found


def _check_versions(found: Mapping[str, object], client: Any) -> None:
    for worker, version in sorted(found.items()):
        if version != __version__:
            has = f"FairTest {version}" if isinstance(version, str) else f"no FairTest that works ({version})"
            raise InputError(
                f"The worker {worker} of the cluster at {address_of(client)!r} has {has}, and here is {__version__}. "
                "Install the same version on every worker: the numbers must be the same wherever they are counted."
            )
