"""The engines, all of which must give the same numbers, and a cluster of several processes."""

from __future__ import annotations

import numpy as np
import pytest

from fairtest.data.streaming.partitions import slices_of
from fairtest.engine.memory import MemoryEngine
from fairtest.engine.partitioned import Here, PartitionedEngine
from fairtest.engine.runners.dask import OnCluster


@pytest.fixture(scope="session")
def cluster():
    """Return the client of a cluster of two worker processes."""
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0") as here,
        Client(here, set_as_default=False) as client,
    ):
        yield client


def uneven(n_rows):
    """Return where parts end that are of all sizes, none and one included."""
    return [*sorted({0, 1, n_rows // 7, n_rows // 2, n_rows // 2 + 3, n_rows}), n_rows]


ENDS = {
    "one": lambda n: [n],
    "three": lambda n: [n // 3, 2 * n // 3, n],
    "uneven": uneven,
    "nothing kept": lambda n: [n // 4, n // 3, n],
    "cluster": lambda n: np.linspace(0, n, 6).astype(int)[1:].tolist(),
}


@pytest.fixture(scope="session", params=["memory", *ENDS])
def engine_over(request):
    """Return what makes an engine over a table and its split: every one there is, over all kinds of partitions."""
    if request.param == "memory":
        return MemoryEngine
    ends = ENDS[request.param]
    client = request.getfixturevalue("cluster") if request.param == "cluster" else None

    def make(table, holdout):
        partitions = slices_of(table, ends(table.n_rows))
        if client is not None:
            return PartitionedEngine(table, holdout, OnCluster(client, partitions, 1 << 20))
        kept = 0 if request.param == "nothing kept" else 1 << 20
        return PartitionedEngine(table, holdout, Here(partitions, kept))

    return make
