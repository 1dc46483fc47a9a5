"""The processes that ``fairtest serve`` starts: ``python -m fairtest.service.operate.child api|worker``.

What they need to know comes by standard input. When the supervisor is gone, that ends, and so do they.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from contextlib import ExitStack
from typing import TYPE_CHECKING

from fairtest.service.operate.logs import configure_logs
from fairtest.service.operate.starting import from_text
from fairtest.service.operate.tracing import start_tracing
from fairtest.service.service import Service

if TYPE_CHECKING:
    from fairtest.service.operate.starting import Listening
    from fairtest.service.settings import Settings

SWITCH_EVERY = 0.0003
"""Seconds after which a thread that computes lets another one go on. The writer asks for its turn after each statement
of a transaction, with all clients waiting for its commit: with Python's 5 ms most of a commit is waiting for that."""

YIELDING = 5
"""How much a worker steps back: whoever sends records waits for an answer, and nobody waits for a run."""


def run_api(settings: Settings, listening: Listening, socket: int) -> None:
    """Answer requests on a socket that is open already, until told to stop."""
    import uvicorn

    from fairtest.service.api.app import create_app

    sys.setswitchinterval(SWITCH_EVERY)
    with ExitStack() as stack:
        service = stack.enter_context(Service(settings, writes=True))
        if (tracing := start_tracing("api")) is not None:
            stack.callback(tracing.close)
        config = uvicorn.Config(
            create_app(service, behind_proxy=listening.behind_proxy, tracing=tracing),
            fd=socket,
            access_log=False,
            log_level="warning",
            log_config=None,
            server_header=False,
            proxy_headers=listening.behind_proxy,
            forwarded_allow_ips="*" if listening.behind_proxy else None,
            ssl_certfile=listening.tls_cert or None,
            ssl_keyfile=listening.tls_key or None,
            timeout_graceful_shutdown=15,
            backlog=2048,
        )
        server = uvicorn.Server(config)
        for number in (signal.SIGTERM, signal.SIGINT):
            # the server has a handler of its own while it runs, and sends itself the signal again when it has stopped:
            # without this one the process would end there, and what is around it here would not be closed
            signal.signal(number, lambda *_: setattr(server, "should_exit", True))
        server.run()


def run_worker(settings: Settings) -> None:
    """Do what is due, until told to stop."""
    from fairtest.service.work.worker import work_until

    os.nice(YIELDING)
    with ExitStack() as stack:
        service = stack.enter_context(Service(settings))
        if (tracing := start_tracing("worker")) is not None:
            stack.callback(tracing.close)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: service.stopping.set())
        work_until(service, service.stopping, tracing=tracing)


def main() -> None:
    """Run what the first argument names."""
    settings, listening = from_text(sys.stdin.readline())
    configure_logs(sys.argv[1])
    threading.Thread(target=_end_with_supervisor, daemon=True).start()
    if sys.argv[1] == "api":
        run_api(settings, listening, int(sys.argv[2]))
    else:
        run_worker(settings)


def _end_with_supervisor() -> None:
    while os.read(0, 1):  # not sys.stdin, whose lock would keep the interpreter from ending
        pass
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    main()
