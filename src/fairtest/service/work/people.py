"""Who is tested: people first seen in the window since the last run, and nobody who was tested before.

Windows go by the server's numbers of batches. Of each person only the first record counts. Counts of people are looked
at here, never outputs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from fairtest.service.store.rows import ID_HASH, PERSON_HASH, RECEIVED, ROW, SEQ, load_tombstones
from fairtest.service.store.runs import spent_sets, tested_people
from fairtest.service.store.streams import load_stream
from fairtest.service.store.windows import read_window

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from fairtest.service.service import Service
    from fairtest.service.store.monitors import Monitor

ARRIVED, ARRIVED_AT, SLOT = "__arrived", "__arrived_at", "arrival"
DAY = 86400.0
SLOTS = (3600.0, 3 * 3600.0, 6 * 3600.0, DAY, 7 * DAY)
ENOUGH_IN_SLOT, MOST_SLOTS = 200, 120
"""Slots are as fine as they can be with so many people in each on average, and with so many of them in all."""
FEWEST_IN_GROUP = 20


@dataclass(frozen=True)
class Chosen:
    """The people of a run.

    Attributes
    ----------
    lo, hi
        The window of batches whose new people are tested.
    before
        How many sets of the monitor are spent.
    to_go
        How many people are missing until the set can be tested; 0 if there are enough.
    waiting
        Records left out because their truth has not arrived, and may yet.
    overdue
        Records left out for good, because their truth did not arrive in the time that the stream allows.
    """

    train: pl.DataFrame
    test: pl.DataFrame
    lo: int
    hi: int
    before: int
    to_go: int
    waiting: int
    overdue: int = 0

    @property
    def hashes(self) -> bytes:
        """The sorted hashes of those who are tested."""
        return np.sort(self.test[PERSON_HASH].to_numpy()).astype(">i8").tobytes()


def choose_people(service: Service, monitor: Monitor, now: float) -> Chosen:
    """Return the training set and the test set of the next run of a monitor."""
    question = monitor.question
    with service.database.reading() as connection:
        hi = load_stream(connection, monitor.project, monitor.stream).seq
        before, last = spent_sets(connection, monitor.project, monitor.id)
        tested = tested_people(connection, monitor.project, monitor.id)
        erased = erased_people(connection, monitor)
    people, waiting, overdue = first_arrivals(service, monitor, hi, now)
    lo = max(last, monitor.fixed_at_seq)
    needed = question["train_people"]
    if people.filter(pl.col(ARRIVED) <= lo).height < needed and people.height >= needed:
        lo = max(lo, int(people[ARRIVED][needed - 1]))  # what comes first trains, until there is enough of it
    train = people.filter(pl.col(ARRIVED) <= lo)
    if (days := question.get("training_days")) is not None:
        train = train.filter(pl.col(ARRIVED_AT) >= now - DAY * days)
    never = [np.frombuffer(each, dtype=">i8").astype(np.int64) for each in tested]
    never.append(np.array(erased, dtype=np.int64))
    new = pl.col(PERSON_HASH).is_in(pl.Series(np.concatenate(never)).implode()).not_()
    test = people.filter((pl.col(ARRIVED) > lo) & new)
    to_go = max(question["test_people"] - test.height, needed - train.height, _missing_in_groups(test, question), 0)
    return Chosen(train, test, lo, hi, before, to_go, waiting, overdue)


def arrivals_between(service: Service, monitor: Monitor, window: tuple[int, int]) -> pl.DataFrame:
    """Return the records that arrived in a window of batches, in the order of arrival, without people who were erased.

    A record of an error profile arrives with its truth, which may come in a later batch than the record.
    """
    lo, hi = window
    truth = monitor.question.get("ground_truth")
    frame = read_window(service, monitor.project, monitor.stream, (lo if truth is None else 0, hi))
    frame = frame.with_columns(pl.col(SEQ).alias(ARRIVED), pl.col(RECEIVED).alias(ARRIVED_AT))
    if truth is not None:
        frame = _with_truths(service, monitor, frame, hi, truth)
        frame = frame.filter(pl.col(truth).is_not_null() & (pl.col(ARRIVED) > lo))
    with service.database.reading() as connection:
        erased = erased_people(connection, monitor)
    return frame.filter(pl.col(PERSON_HASH).is_in(erased).not_()).sort(ARRIVED, ROW, ID_HASH)


def erased_people(connection: Connection, monitor: Monitor) -> list[int]:
    """Return the hashes of people who were erased from a stream: whoever returns is never tested again.

    Where no column names the person, a record is one.
    """
    person = load_stream(connection, monitor.project, monitor.stream).declaration.person
    kinds = {"person"} if person is not None else {"person", "record"}
    return [
        stone.short for stone in load_tombstones(connection, monitor.project, monitor.stream) if stone.kind in kinds
    ]


def first_arrivals(service: Service, monitor: Monitor, hi: int, now: float) -> tuple[pl.DataFrame, int, int]:
    """Return the first record of each person up to a batch, in the order of arrival.

    A record arrives for an error profile when its truth has arrived. Also returns how many records wait for theirs,
    and how many have waited longer than the stream allows.
    """
    frame = read_window(service, monitor.project, monitor.stream, (0, hi))
    frame = frame.with_columns(pl.col(SEQ).alias(ARRIVED), pl.col(RECEIVED).alias(ARRIVED_AT))
    truth = monitor.question.get("ground_truth")
    waiting = overdue = 0
    if truth is not None:
        frame = _with_truths(service, monitor, frame, hi, truth)
        missing = frame.filter(pl.col(truth).is_null())
        overdue = missing.filter(pl.col(RECEIVED) < now - _truth_within(service, monitor)).height
        waiting = missing.height - overdue
        frame = frame.filter(pl.col(truth).is_not_null())
    frame = frame.sort(ARRIVED, ROW, ID_HASH)
    return frame.unique(PERSON_HASH, keep="first", maintain_order=True), waiting, overdue


def with_slots(train: pl.DataFrame, test: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame, bool]:
    """Add the slot of time in which each person arrived, so that people are compared within slots.

    The finest of one, three and six hours with enough people in each; six hours if none has, and days or weeks where
    there would be too many. The training set has the slots of the day alone, since its days are not those of the test
    set. Also returns whether there is more than one slot.
    """
    slots = {length: (test[ARRIVED_AT] // length).n_unique() for length in SLOTS}
    few = [length for length, number in slots.items() if number <= MOST_SLOTS] or [SLOTS[-1]]
    full = [length for length in few if test.height / slots[length] >= ENOUGH_IN_SLOT]
    length = min(full[0], max(few[0], 6 * 3600.0)) if full else max(few[0], 6 * 3600.0)
    hours = int(length // 3600)
    moment = pl.from_epoch((pl.col(ARRIVED_AT) // length * length).cast(pl.Int64), time_unit="s")
    named = moment.dt.strftime(f"%Y-%m-%d %H:00 + {hours} h").alias(SLOT)
    tested = test.with_columns(named)
    names = tested[SLOT].unique().sort()
    by_hour = dict(zip(names.str.slice(11), names, strict=True))
    hour = moment.dt.strftime(f"%H:00 + {hours} h")
    trained = train.with_columns(hour.replace_strict(by_hour, default=names[0], return_dtype=pl.String).alias(SLOT))
    return trained, tested, names.len() > 1


def _with_truths(service: Service, monitor: Monitor, frame: pl.DataFrame, hi: int, truth: str) -> pl.DataFrame:
    """Join what became known later; the first truth of a record counts, if it came in time.

    The record arrives with it.
    """
    late = read_window(service, monitor.project, monitor.stream, (0, hi), "truth", [truth])
    with service.database.reading() as connection:
        record_id = load_stream(connection, monitor.project, monitor.stream).declaration.record_id
    if truth not in late.columns:
        return frame
    late = late.filter(pl.col(truth).is_not_null()).unique(record_id, keep="first", maintain_order=True)
    late = late.select(
        record_id, pl.col(truth).alias("__truth"), pl.col(SEQ).alias("__late"), pl.col(RECEIVED).alias("__at")
    )
    joined = frame.join(late, on=record_id, how="left", maintain_order="left")
    in_time = pl.col("__at") - pl.col(RECEIVED) <= _truth_within(service, monitor)
    came_late = pl.col(truth).is_null() & pl.col("__truth").is_not_null() & in_time
    later = came_late & (pl.col("__late") > pl.col(SEQ))
    return joined.with_columns(
        pl.when(came_late).then(pl.col("__truth")).otherwise(pl.col(truth)).alias(truth),
        pl.when(later).then(pl.col("__late")).otherwise(pl.col(ARRIVED)).alias(ARRIVED),
        pl.when(later).then(pl.col("__at")).otherwise(pl.col(ARRIVED_AT)).alias(ARRIVED_AT),
    ).drop("__truth", "__late", "__at")


def _truth_within(service: Service, monitor: Monitor) -> float:
    """Return how many seconds after its record a truth may come."""
    with service.database.reading() as connection:
        days = load_stream(connection, monitor.project, monitor.stream).truth_within_days
    return float("inf") if days is None else DAY * days


def _missing_in_groups(test: pl.DataFrame, question: dict[str, Any]) -> int:
    """Return about how many people are missing until the smallest protected group has enough of them."""
    missing = 0
    for names in question["protected"]:
        for name in [names] if isinstance(names, str) else names:
            values = test[name].drop_nulls()
            if values.len() == 0 or values.dtype.is_float():
                continue
            counts = values.value_counts()["count"]
            least = int(counts.min() or 0)  # type: ignore[arg-type]
            if counts.len() < 2:
                missing = max(missing, FEWEST_IN_GROUP)
            elif least < FEWEST_IN_GROUP and counts.len() <= 20:
                missing = max(missing, round(test.height * (FEWEST_IN_GROUP - least) / max(least, 1)))
    return missing
