"""The app of a service on a real port of the loopback address."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

import uvicorn

from fairtest.service.api.app import create_app

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairtest.service.service import Service


@contextmanager
def served(service: Service, patience: int | None = None) -> Iterator[str]:
    """Serve until the block ends, and give the address.

    ``patience`` is how many seconds requests that are under way then have until they are cancelled.
    """
    config = uvicorn.Config(
        create_app(service), host="127.0.0.1", port=0, log_level="error", log_config=None, ws="none",
        timeout_graceful_shutdown=patience,
    )  # fmt: skip
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        assert thread.is_alive(), "the server did not start"
        thread.join(0.01)
    try:
        (listening,) = server.servers[0].sockets
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(20)
