"""Threads that audit at once, the same people or others, get the bytes that one thread gets."""

from __future__ import annotations

import pickle
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from copy import copy
from dataclasses import fields

import numpy as np
import pytest
from naive_counts import CONTEXTUAL, setting, target_of
from test_engine_reports import CASES, FRAME

import fairtest as ft
from fairtest.data.axes import Condition
from fairtest.data.holdout import TRAIN, Budget
from fairtest.data.streaming.partitions import slices_of
from fairtest.data.summaries import Target
from fairtest.engine.local import PartitionCache
from fairtest.engine.memory import MemoryEngine
from fairtest.engine.partitioned import Here, PartitionedEngine
from fairtest.engine.recent import Recent
from fairtest.pipeline import search


def new_source():
    return ft.DataSource(FRAME, seed=3, train_size=0.5)


def in_partitions(kept, runner=Here):
    """Return a source whose people are counted in three partitions."""
    source = new_source()
    partitions = slices_of(source.table, [500, 1000, 1500])
    source._attached[search.make_engine] = PartitionedEngine(source.table, source.holdout, runner(partitions, kept))
    return source


def asked_again(source):
    """Return the same people, with the same engine and their test set not yet spent."""
    again = copy(source)
    again.budget = Budget(1)
    assert search.engine_of(again) is search.engine_of(source)
    return again


@pytest.fixture
def switching():
    """Let threads take turns as often as can be."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def test_two_threads_get_what_one_gets(switching):
    """Each asks all questions, in another order: of one source in memory, of one in partitions, of its own."""
    expected = {case: ask(new_source()).to_json() for case, ask in CASES.items()}
    assert len(expected) == 20
    shared = [new_source(), in_partitions(1 << 20), in_partitions(0)]
    start = threading.Barrier(2)

    def audit(number):
        start.wait()
        cases = list(CASES)[:: -1 if number else 1]
        sources = [*map(asked_again, (shared[0], shared[1], shared[0], shared[2])), new_source()]
        return {
            case: CASES[case](asked_again(sources[(place + number) % len(sources)])).to_json()
            for place, case in enumerate(cases)
        }

    with ThreadPoolExecutor(2) as pool:
        for found in pool.map(audit, range(2)):
            assert [case for case in CASES if found[case] != expected[case]] == []


class SlowTarget(Target):
    """A target that lets other threads go first whenever something is looked up by it."""

    __eq__ = Target.__eq__

    def __hash__(self):
        time.sleep(1e-5)
        return super().__hash__()


def without_padding(cell, terms):
    """Return what people add, without the places that fill up the words of each partition."""
    return np.concatenate((cell[cell >= 0], terms[:, cell >= 0].ravel()))


@pytest.mark.parametrize("where", ["memory", "partitions"])
def test_an_engine_answers_threads_that_get_in_each_other_s_way(where):
    """Each asks for another target, set and thing at a time, while the others are in the middle of theirs."""
    _, table, holdout, _, _, _ = setting(11)
    plain = MemoryEngine(table, holdout)
    axes = plain.axes(CONTEXTUAL)
    parts = slices_of(table, [table.n_rows // 3, table.n_rows])
    engine = MemoryEngine(table, holdout)
    if where == "partitions":
        engine = PartitionedEngine(table, holdout, Here(parts, 1 << 20))
    made = [target_of(table, which, stratified=s) for which in ("counts", "moments") for s in (False, True)]
    targets = [SlowTarget(**{field.name: getattr(target, field.name) for field in fields(target)}) for target in made]
    context = (Condition("city", (0, 1)),)
    questions = [
        lambda e, n, t: e.total(n, t),
        lambda e, n, t: e.joint(n, axes[:2], t),
        lambda e, n, t: e.joint(n, [axes[2], axes[1]], t),
        lambda e, n, t: e.tables(n, [context, ()], t),
        lambda e, n, t: np.array(e.count_left_out(n, t)),
        lambda e, n, t: e.rows(n, context, t).protected,
        lambda e, n, t: without_padding(*e.contributions(n, t)),
    ]
    asked = [(q, n, t) for q in range(len(questions)) for n in (TRAIN, 1) for t in range(len(targets))]
    expected = {(q, n, t): questions[q](plain, n, made[t]).tobytes() for q, n, t in asked}

    def ask(seed):
        order = np.random.default_rng(seed).permutation(len(asked)).tolist()
        return {asked[i]: questions[asked[i][0]](engine, asked[i][1], targets[asked[i][2]]).tobytes() for i in order}

    with ThreadPoolExecutor(4) as pool:
        assert all(found == expected for found in pool.map(ask, range(8)))


def test_what_is_attached_to_a_source_is_made_once(switching):
    source, made, start = new_source(), [], threading.Barrier(8)

    def make(of):
        made.append(of)
        return object()

    def ask(_):
        start.wait()
        return source.attach(make)

    with ThreadPoolExecutor(8) as pool:
        assert len(set(pool.map(ask, range(8)))) == 1
    assert made == [source]


def test_a_wider_source_has_an_engine_of_its_own():
    source = new_source()
    engine = search.engine_of(source)
    wider = source.with_columns({"more": list(range(1500))})
    assert search.engine_of(wider) is not engine
    assert search.engine_of(wider).axis("more") is not None


def test_only_the_last_things_are_kept(switching):
    kept = Recent(most=3)

    def ask(first):
        return [kept.get(i % 7, lambda i=i: [i % 7])[0] == i % 7 for i in range(first, first + 500)]

    with ThreadPoolExecutor(4) as pool:
        assert all(all(right) for right in pool.map(ask, range(4)))
    assert len(kept.values()) == 3


class Elsewhere(Here):
    """Answers every request twice, by what can be pickled of it, and knows nothing of the requests before."""

    def run(self, request, *, add):
        partitions = pickle.dumps([(i, part, request.to(i)) for i, part in enumerate(self.partitions)])
        first, second = (PartitionCache(0).answers(pickle.loads(partitions), add=add) for _ in range(2))
        assert pickle.dumps(first) == pickle.dumps(second)
        return first


@pytest.mark.parametrize("case", ["DIFF in a tree", "ETA, max-T", "RANK", "labels in a tree, given shift"])
def test_requests_can_be_sent_and_repeated(case):
    assert CASES[case](in_partitions(0, Elsewhere)).to_json() == CASES[case](new_source()).to_json()
