"""Clusters that lose workers, cannot be reached, or die: the same bytes, or an error that says so and nothing spent."""

from __future__ import annotations

import asyncio
import os
import signal
import threading

import pytest
from test_engine_reports import CASES, FRAME

import fairtest as ft
from fairtest.data import cluster as clusters
from fairtest.data.holdout import TRAIN
from fairtest.data.streaming import partitions
from fairtest.engine.runners import dask
from fairtest.engine.runners.dask import OnCluster
from fairtest.exceptions import FairTestError, InputError
from fairtest.pipeline import search
from fairtest.version import __version__


@pytest.fixture
def doomed():
    """Return the client of a cluster that a test may harm."""
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0") as here,
        Client(here, set_as_default=False) as client,
    ):
        yield client


@pytest.fixture(autouse=True)
def small_parts(monkeypatch):
    """Cut a table into many slices, and add up few sums at a time."""
    monkeypatch.setattr(partitions, "SENT_BYTES", 1_000)
    monkeypatch.setattr(partitions, "FEWEST_SENT_ROWS", 100)
    monkeypatch.setattr(dask, "FEW", 2)


def told(**how):
    """Return the report of a source as JSON."""
    return CASES["DIFF in a tree"](ft.DataSource(FRAME, seed=3, train_size=0.5, **how)).to_json()


STAGES = {
    "search": lambda request: request.name == "histograms",
    "validation": lambda request: request.name == "tables" and request.question.keywords["number"] != TRAIN,
}


@pytest.mark.parametrize("stage", STAGES)
def test_a_worker_killed_in_the_middle_changes_nothing(doomed, monkeypatch, stage):
    workers = doomed.run(os.getpid)
    submitted = OnCluster._submit
    killed = []

    def harmed(self, request, *, add):
        futures = submitted(self, request, add=add)
        if STAGES[stage](request) and not killed:
            assert len(futures) == 4  # two for each worker
            killed.append(next(iter(workers.values())))
            os.kill(killed[0], signal.SIGKILL)
        return futures

    monkeypatch.setattr(OnCluster, "_submit", harmed)
    assert told(engine=doomed) == told()
    assert len(killed) == 1
    assert killed[0] not in doomed.run(os.getpid).values()


def test_a_source_can_name_the_address_of_a_scheduler(cluster, tmp_path):
    assert told(engine=cluster.scheduler.address) == told()


def test_workers_read_parquet_files_themselves(cluster, tmp_path, monkeypatch):
    monkeypatch.setattr(search, "EACH_ROW", 10**7)
    path = tmp_path / "data.parquet"
    FRAME.write_parquet(path)
    source = ft.DataSource(path, seed=3, train_size=0.5, engine=cluster)
    assert len(search.engine_of(source)._runner.partitions) > 4
    in_memory = ft.DataSource(path, seed=3, train_size=0.5)
    case = CASES["MEAN"]
    assert case(source).to_json() == case(in_memory).to_json()


def test_a_scheduler_that_cannot_be_reached_is_an_error_at_once(monkeypatch):
    monkeypatch.setattr(clusters, "PATIENCE", 0.5)
    with pytest.raises(InputError, match=r"'tcp://127\.0\.0\.1:9' does not answer.*Nothing was spent"):
        ft.DataSource(FRAME, engine="tcp://127.0.0.1:9")


def test_a_cluster_without_workers_is_an_error(monkeypatch):
    from distributed import Client, LocalCluster

    monkeypatch.setattr(clusters, "PATIENCE", 0.5)
    with (
        LocalCluster(n_workers=0, processes=False, dashboard_address=":0") as here,
        Client(here, set_as_default=False) as client,
        pytest.raises(InputError, match="has no workers"),
    ):
        ft.DataSource(FRAME, engine=client)


def test_a_cluster_that_dies_spends_no_test_set(doomed):
    source = ft.DataSource(FRAME, seed=3, train_size=0.5, engine=doomed)
    asked = ft.Testing(source, "sex", "hired", contextual=["city", "shift"])
    ft.train([asked], search="tree")
    doomed.cluster.close()
    with pytest.raises(FairTestError, match=r"was lost while people were counted.*no test set is spent"):
        ft.test([asked])
    assert source.budget.left == 1
    with pytest.raises(InputError, match=r"Give one that is connected|does not answer"):
        ft.DataSource(FRAME, engine=doomed)


@pytest.mark.parametrize(("version", "said"), [("0.0.1", "has FairTest 0.0.1"), (ImportError("x"), "no FairTest")])
def test_workers_need_the_same_version(cluster, version, said):
    found = {"tcp://b": __version__, "tcp://a": version}
    with pytest.raises(InputError, match=f"worker tcp://a .*{said}.*Install the same version"):
        clusters._check_versions(found, cluster)


def test_the_version_of_every_worker_is_asked_for(cluster):
    assert list(clusters._versions(cluster).values()) == [__version__] * 2


def test_what_cannot_be_sent_is_an_error(cluster):
    lock = threading.Lock()

    def held(guess, truth):
        with lock:
            return abs(guess - truth)

    source = ft.DataSource(FRAME, engine=cluster)
    asked = ft.ErrorProfiling(source, "sex", output="guess", ground_truth="pay", error=held, contextual=["city"])
    with pytest.raises(InputError, match="cannot be sent to the cluster"):
        ft.train([asked])


@pytest.mark.parametrize("engine", ["spark", 3, None])
def test_an_unknown_engine_is_an_error(engine):
    with pytest.raises(InputError, match="The 'engine' of DataSource must be"):
        ft.DataSource(FRAME, engine=engine)


def test_an_asynchronous_client_is_an_error(cluster):
    from distributed import Client

    async def ask():
        async with Client(cluster.scheduler.address, asynchronous=True, set_as_default=False) as client:
            with pytest.raises(InputError, match="not asynchronous"):
                ft.DataSource(FRAME, engine=client)

    asyncio.run(ask())
