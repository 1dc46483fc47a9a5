"""Requests answered by a Dask cluster: workers read the partitions, and only sums and the people asked for come back.

A task is a pure function of partitions, so that the scheduler may run it again elsewhere when a worker is lost. What
workers keep from one task to the next only spares time.
"""

from __future__ import annotations

from copy import deepcopy
from itertools import chain
from pickle import PicklingError
from threading import Lock
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from fairtest.data.cluster import address_of
from fairtest.engine.local import PartitionCache, add_answers
from fairtest.engine.recent import Recent
from fairtest.exceptions import FairTestError, InputError
from fairtest.version import __version__

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from fairtest.data.streaming.partitions import Partition
    from fairtest.engine.local import Request

TASKS_EACH = 2
"""Into how many tasks the partitions are grouped for each thread of the cluster: none waits long for another."""
FEW = 16
"""The sums of more tasks than this are added on the cluster, this many at a time, and not here."""
RETRIES = 3
PATIENCE = 60.0
"""For how many seconds a cluster may be without any worker."""


class OnCluster:
    """Answers requests on a cluster. See :class:`fairtest.engine.partitioned.Runner`.

    Parameters
    ----------
    client
        A connected ``distributed.Client``.
    partitions
        Where the rows are. Those that hold their rows are sent to the cluster once.
    kept
        How many bytes of encoded columns each worker may keep from one task to the next.
    """

    def __init__(self, client: Any, partitions: Sequence[Partition], kept: int) -> None:
        self.partitions = partitions
        self._client = client
        self._address = address_of(client)
        self._kept = kept
        self._token = uuid4().hex
        self._sent: list[Any] | None = None
        self._sending = Lock()  # two threads that ask at once send the rows once

    def run(self, request: Request, *, add: bool) -> Any:
        """Return what the partitions answer."""
        dask = _import_distributed()
        try:
            if self._client.status in ("closing", "closed"):
                raise OSError("the client is closed")
            with self._client.as_current():
                return self._gather(self._submit(request, add=add), add=add)
        except FairTestError:
            raise
        except (OSError, TimeoutError, dask.CancelledError, dask.KilledWorker) as error:
            raise FairTestError(
                f"The cluster at {self._address!r} was lost while people were counted: "
                f"{type(error).__name__}: {error}. Nothing was reported, and no test set is spent by it."
            ) from error
        except (TypeError, AttributeError, PicklingError) as error:
            if "serialize" not in str(error) and not isinstance(error, PicklingError):
                raise
            raise InputError(
                f"Something that is asked for cannot be sent to the cluster at {self._address!r}: {error}. "
                "Give an error function that uses nothing but its arguments and imported modules."
            ) from error
        except ModuleNotFoundError as error:
            raise InputError(
                f"A worker of the cluster at {self._address!r} lacks a module: {error}. Install the same "
                f"FairTest ({__version__}) on every worker."
            ) from error

    def _submit(self, request: Request, *, add: bool) -> list[Any]:
        """Send the request to the cluster, in tasks of neighbouring partitions, each to where it went before."""
        workers = sorted(self._client.ncores().items())
        if not workers:
            self._client.wait_for_workers(1, timeout=PATIENCE)
            workers = sorted(self._client.ncores().items())
        partitions = self._sent_partitions()
        many = max(min(TASKS_EACH * sum(cores for _, cores in workers), len(partitions)), 1)
        tasks = _in_runs(range(len(partitions)), -(-len(partitions) // many))
        return [
            self._client.submit(
                _answer,
                self._token,
                __version__,
                self._kept,
                [request.to(i) for i in some],
                [partitions[i] for i in some],
                some,
                add,
                workers=[workers[number % len(workers)][0]],
                allow_other_workers=True,
                retries=RETRIES,
                pure=False,
                key=f"fairtest-{request.name}-{uuid4().hex}",
            )
            for number, some in enumerate(tasks)
        ]

    def _sent_partitions(self) -> list[Any]:
        """Return the partitions as tasks get them.

        Rows that are in memory here are sent once, in tasks that return them: the scheduler can repeat these when a
        worker that had them is lost.
        """
        with self._sending:
            if self._sent is None:
                self._sent = [
                    self._client.submit(_return, p, pure=False, retries=RETRIES, key=f"fairtest-rows-{uuid4().hex}")
                    if p.holds_rows
                    else p
                    for p in self.partitions
                ]
            return self._sent

    def _gather(self, futures: list[Any], *, add: bool) -> Any:
        if not add:
            self._wait(futures)
            return [answer for answers in self._client.gather(futures) for answer in answers]
        while len(futures) > FEW:
            futures = [
                self._client.submit(_add_copies, some, pure=False, retries=RETRIES) for some in _in_runs(futures, FEW)
            ]
        self._wait(futures)
        return _add_copies(answer for _, answer in _import_distributed().as_completed(futures, with_results=True))

    def _wait(self, futures: Sequence[Any]) -> None:
        """Wait until everything is done, or the cluster has been without workers for too long."""
        alone = 0.0
        while True:
            try:
                _import_distributed().wait(futures, timeout=PATIENCE / 12)
            except TimeoutError:
                alone = 0.0 if self._client.ncores() else alone + PATIENCE / 12
                if alone >= PATIENCE:
                    raise TimeoutError(f"no worker for {PATIENCE:g} seconds") from None
            else:
                return


def _import_distributed() -> Any:
    import distributed

    return distributed


def _in_runs(things: Sequence[Any], length: int) -> list[list[Any]]:
    return [list(things[first : first + length]) for first in range(0, len(things), length)]


_caches: Recent[str, PartitionCache] = Recent(most=1)
"""What this worker keeps of the last source that it was asked about: ``kept`` bytes at most. Its threads share it."""


def _answer(
    token: str,
    version: str,
    kept: int,
    requests: Sequence[Request],
    partitions: Sequence[Partition],
    numbers: Sequence[int],
    add: bool,
) -> Any:
    """Answer on a worker for some partitions."""
    if version != __version__:
        raise InputError(
            f"A worker of the cluster has FairTest {__version__}, and the one who asks has {version}. Install the same "
            "version on every worker: the numbers must be the same wherever they are counted."
        )
    cache = _caches.get(token, lambda: PartitionCache(kept))
    return cache.answers(zip(numbers, partitions, requests, strict=True), add=add)


def _add_copies(answers: Iterable[Any]) -> Any:
    """Return the sum of answers, which are left as they are: the scheduler may want to add them once more."""
    every = iter(answers)
    return add_answers(chain((deepcopy(next(every)),), every))


def _return(partition: Partition) -> Partition:
    return partition
