"""Numbers for Prometheus: what this process counts, and what the store says when it is asked.

What the store knows is read from it, so that the numbers are the same whichever process is asked, and after a restart.
"""

from __future__ import annotations

import json
import shutil
import threading
import time
from typing import TYPE_CHECKING, Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, SummaryMetricFamily
from prometheus_client.registry import Collector
from sqlalchemy import JSON, Double, and_, cast, func, select, type_coerce

from fairtest.service.operate.logs import count_dropped_lines
from fairtest.service.store.tables import (
    batch,
    delivery,
    finding,
    measure,
    monitor,
    question,
    run,
    segment,
    stream,
    tombstone,
)
from fairtest.service.store.tables import project as project_table
from fairtest.version import __version__

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from prometheus_client.core import Metric
    from sqlalchemy import ColumnElement, Connection, Select, Table

    from fairtest.service.service import Service

AGE = 10.0
"""Seconds for which what was read from the store is good enough."""
PREFIX = "fairtest_"
ENDED, OPEN = ("done", "skipped", "failed", "cancelled"), ("due", "running")


class Meters:
    """What a process that answers requests counts."""

    def __init__(self, service: Service) -> None:
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        Gauge(f"{PREFIX}build_info", "The version that runs", ["version"], registry=self.registry).labels(
            __version__
        ).set(1)
        self.batch_seconds = Histogram(
            f"{PREFIX}batch_seconds", "Seconds from a batch to its receipt", registry=self.registry,
            buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30),
        )  # fmt: skip
        self.batches = Counter(f"{PREFIX}batches", "Batches by what became of them", ["result"], registry=self.registry)
        for result in RESULTS.values():
            self.batches.labels(result)
        queue = Gauge(f"{PREFIX}writer_queue", "Batches that wait to be written", registry=self.registry)
        queue.set_function(lambda: service.writer.waiting if service.writer is not None else 0)
        self.registry.register(_DroppedLines())
        self._store = StoreNumbers(service)

    def note_batch(self, status: int, seconds: float) -> None:
        """Count a request that brought a batch."""
        self.batch_seconds.observe(seconds)
        self.batches.labels(RESULTS.get(status, "failed" if status >= 500 else "refused")).inc()

    def write(self, project: str | None) -> bytes:
        """Return all numbers as Prometheus reads them; of one project, only what is of it."""
        own = b"" if project is not None else generate_latest(self.registry)
        return own + generate_latest(_Families(self._store.read(project)))


RESULTS = {
    201: "stored", 200: "replayed", 422: "rejected", 401: "refused", 429: "limited", 503: "overloaded", 499: "gone",
}  # fmt: skip
"""What the answers to a batch are called; others are refused, or failed. Of those that are gone, no body was read."""


class _DroppedLines(Collector):
    """How many lines of the log were dropped, as a counter."""

    def collect(self) -> Iterator[Metric]:
        """Give the counter."""
        words = "Lines of the log that were dropped because nobody read it"
        yield CounterMetricFamily(f"{PREFIX}log_lines_dropped", words, value=count_dropped_lines())


class _Families:
    """What was read from the store, in the shape of a registry."""

    def __init__(self, families: Iterable[Metric]) -> None:
        self._families = families

    def collect(self) -> Iterable[Metric]:
        """Return the families."""
        return self._families


class StoreNumbers:
    """Numbers that the store has, read at most every few seconds."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._known: dict[str | None, tuple[float, list[Metric]]] = {}
        self._lock = threading.Lock()

    def read(self, project: str | None) -> list[Metric]:
        """Return the numbers of a project, or of all."""
        with self._lock:
            then, families = self._known.get(project, (0.0, []))
            if not families or time.monotonic() - then > AGE:
                with self._service.database.reading() as connection:
                    now = self._service.database.now(connection)
                    families = list(_Reader(connection, project, now).families())
                families += [] if project is not None else self._of_disk()
                self._known[project] = time.monotonic(), families
            return families

    def _of_disk(self) -> list[Metric]:
        free = shutil.disk_usage(self._service.settings.data).free
        return [_gauge("disk_free_bytes", "Bytes that are free where the data is", [], [([], free)])]


class _Reader:
    """Reads the numbers of a project, or of all, from one snapshot."""

    def __init__(self, connection: Connection, project: str | None, now: float) -> None:
        self._connection, self._project, self._now = connection, project, now
        names = select(project_table.c.name).order_by(project_table.c.name)
        self._projects = [project] if project is not None else list(connection.scalars(names))

    def families(self) -> Iterator[Metric]:
        """Give every family of numbers."""
        yield self._records()
        yield from self._bytes()
        yield from self._runs()
        yield from self._monitors()
        yield from self._findings()
        yield from self._deliveries()
        yield from self._tombstones()

    def _ask(self, query: Select[Any], table: Table) -> list[Any]:
        if self._project is not None:
            query = query.where(table.c.project == self._project)
        return list(self._connection.execute(query))

    def _by_state(self, table: Table, states: Iterable[str]) -> list[tuple[list[str], int]]:
        """Return how many rows are in each state, also where that is none: a first one must be seen to come."""
        query = select(table.c.project, table.c.state, func.count()).group_by(table.c.project, table.c.state)
        counts = {(row[0], row[1]): row[2] for row in self._ask(query, table)}
        return [([each, state], counts.get((each, state), 0)) for each in self._projects for state in states]

    def _by_project(self, values: dict[str, float]) -> list[tuple[list[str], float]]:
        return [([each], values.get(each, 0.0)) for each in self._projects]

    def _records(self) -> Metric:
        family = CounterMetricFamily(
            f"{PREFIX}records", "Records that were stored; those of an id that was there count as duplicate",
            labels=["project", "stream", "result"],
        )  # fmt: skip
        twice = func.coalesce(func.sum(batch.c.duplicates), 0).label("twice")
        again = self._ask(
            select(batch.c.project, batch.c.stream, twice).group_by(batch.c.project, batch.c.stream), batch
        )
        duplicates = {(row.project, row.stream): int(row.twice) for row in again}
        for row in self._ask(select(stream.c.project, stream.c.name, stream.c.records), stream):
            count = duplicates.get((row.project, row.name), 0)
            family.add_metric([row.project, row.name, "accepted"], row.records - count)
            family.add_metric([row.project, row.name, "duplicate"], count)
        return family

    def _bytes(self) -> Iterator[Metric]:
        both = stream.outerjoin(
            batch,
            and_(
                batch.c.project == stream.c.project, batch.c.stream == stream.c.name, batch.c.seq > stream.c.sealed
            ),
        )  # fmt: skip
        size = func.coalesce(func.sum(batch.c.bytes), 0)
        query = select(stream.c.project, stream.c.name, size).select_from(both)
        rows = self._ask(query.group_by(stream.c.project, stream.c.name), stream)
        labels = ["project", "stream"]
        yield _gauge("unsealed_bytes", "Bytes of batches that wait to be sealed", labels, _by_names(rows))
        size = func.coalesce(func.sum(segment.c.bytes), 0)
        query = select(segment.c.project, segment.c.stream, size).where(segment.c.replaced.is_(None))
        rows = self._ask(query.group_by(segment.c.project, segment.c.stream), segment)
        yield _gauge("segment_bytes", "Bytes of segments", labels, _by_names(rows))

    def _runs(self) -> Iterator[Metric]:
        labels = ["project", "state"]
        yield _counter("runs", "Runs that have ended, by how", labels, self._by_state(run, ENDED))
        yield _gauge("runs_waiting", "Runs that are due or under way", labels, self._by_state(run, OPEN))
        seconds = _number_in(self._connection, run.c.detail, "seconds")
        timed = select(run.c.project, func.count(seconds), func.coalesce(func.sum(seconds), 0))
        family = SummaryMetricFamily(f"{PREFIX}run_seconds", "Seconds that runs took", labels=["project"])
        for row in self._ask(timed.where(run.c.state.in_(ENDED)).group_by(run.c.project), run):
            family.add_metric([row[0]], int(row[1]), float(row[2]))
        yield family
        late = select(run.c.project, func.min(run.c.due)).where(run.c.state == "due", run.c.due <= self._now)
        rows = self._ask(late.group_by(run.c.project), run)
        lag = self._by_project({row[0]: self._now - row[1] for row in rows})
        yield _gauge("run_lag_seconds", "Seconds that the run which is due longest has waited", ["project"], lag)

    def _monitors(self) -> Iterator[Metric]:
        """Give how many records wait for the next set of each monitor, and how much of its error rate is left."""
        own = monitor.join(stream, and_(stream.c.project == monitor.c.project, stream.c.name == monitor.c.stream)).join(
            question,
            and_(
                question.c.project == monitor.c.project,
                question.c.monitor == monitor.c.id,
                question.c.version == monitor.c.version,
            ),
        )
        columns = (monitor.c.project, monitor.c.id, monitor.c.name, stream.c.records, stream.c.name.label("stream"))
        active = select(*columns, question.c.body).select_from(own).where(monitor.c.deleted.is_(None))
        last = self._last_runs()
        waiting, left = [], []
        for row in self._ask(active, monitor):
            hi, detail = last.get((row.project, row.id), (0, None))
            seen = batch.c.stream_records
            of_batch = (batch.c.project == row.project) & (batch.c.stream == row.stream) & (batch.c.seq == hi)
            before = self._connection.scalar(select(seen).where(of_batch)) or 0
            waiting.append(([row.project, row.name], row.records - before))
            rate = json.loads(row.body).get("error_rate", {}).get("level")
            left.append(([row.project, row.name], rate if detail is None else json.loads(detail).get("left", rate)))
        labels = ["project", "monitor"]
        yield _gauge("test_people_waiting", "Records since the last set that was tested", labels, waiting)
        yield _gauge("error_left", "Error rate that later sets of a monitor share", labels, left)

    def _last_runs(self) -> dict[tuple[str, str], tuple[int, str | None]]:
        query = select(run.c.project, run.c.monitor, run.c.hi, run.c.detail).where(run.c.state == "done")
        rows = self._ask(query.order_by(run.c.set_number), run)
        return {(row.project, row.monitor): (row.hi, row.detail) for row in rows}

    def _findings(self) -> Iterator[Metric]:
        of_monitor = and_(monitor.c.project == finding.c.project, monitor.c.id == finding.c.monitor)
        query = select(finding.c.project, monitor.c.name, func.count()).select_from(finding.join(monitor, of_monitor))
        rows = self._ask(query.where(finding.c.state == "open").group_by(finding.c.project, monitor.c.name), finding)
        yield _gauge("findings_open", "Findings that nobody has dealt with", ["project", "monitor"], _by_names(rows))
        of_run = and_(run.c.project == measure.c.project, run.c.id == measure.c.run)
        of_finding = and_(finding.c.project == measure.c.project, finding.c.id == measure.c.finding)
        columns = (measure.c.project, measure.c.finding, measure.c.effect, measure.c.low, measure.c.high)
        query = select(*columns).select_from(measure.join(run, of_run).join(finding, of_finding))
        newest = {
            (row.project, row.finding): row
            for row in self._ask(query.where(finding.c.state != "closed").order_by(run.c.set_number), measure)
        }
        values = [
            ([row.project, row.finding, bound], value)
            for row in newest.values()
            for bound, value in (("low", row.low), ("effect", row.effect), ("high", row.high))
            if value is not None
        ]
        labels = ["project", "finding", "bound"]
        yield _gauge("finding_effect", "Effect that a finding last had, with its interval", labels, values)

    def _deliveries(self) -> Iterator[Metric]:
        labels = ["project", "state"]
        ended, waiting = self._by_state(delivery, ("sent", "dead")), self._by_state(delivery, OPEN)
        yield _counter("deliveries", "Alerts that were sent, or given up", labels, ended)
        yield _gauge("deliveries_waiting", "Alerts that wait or are under way", labels, waiting)

    def _tombstones(self) -> Iterator[Metric]:
        query = select(tombstone.c.project, func.count(), func.min(tombstone.c.asked))
        query = query.where(tombstone.c.erased.is_(None)).group_by(tombstone.c.project)
        rows = self._ask(query, tombstone)
        words = "People and records that are hidden and not erased yet"
        yield _gauge("tombstones_pending", words, ["project"], self._by_project({row[0]: row[1] for row in rows}))
        ages = self._by_project({row[0]: self._now - row[2] for row in rows})
        yield _gauge("tombstone_age_seconds", "Seconds since the oldest of them was asked for", ["project"], ages)


def _by_names(rows: Iterable[Any]) -> list[tuple[list[str], Any]]:
    """Return the labels that rows begin with, and the number that they end with."""
    return [([*row[:-1]], row[-1]) for row in rows]


def _gauge(name: str, words: str, labels: list[str], values: Iterable[tuple[list[str], Any]]) -> Metric:
    family = GaugeMetricFamily(PREFIX + name, words, labels=labels)
    for given, value in values:
        family.add_metric(given, float(value))
    return family


def _counter(name: str, words: str, labels: list[str], values: Iterable[tuple[list[str], Any]]) -> Metric:
    family = CounterMetricFamily(PREFIX + name, words, labels=labels)
    for given, value in values:
        family.add_metric(given, float(value))
    return family


def _number_in(connection: Connection, column: ColumnElement[Any], name: str) -> ColumnElement[float]:
    """Return a number in a column of JSON text."""
    if connection.dialect.name == "sqlite":
        return type_coerce(func.json_extract(column, f"$.{name}"), Double)
    return cast(cast(column, JSON)[name].as_string(), Double)
