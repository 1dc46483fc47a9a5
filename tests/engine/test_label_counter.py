"""Labels counted from the people who have them give the same sums as labels counted one by one."""

import numpy as np
import pytest

from fairtest.data.axes import Condition
from fairtest.data.holdout import Holdout
from fairtest.data.labels import labels_of
from fairtest.data.reading.readers import read_table
from fairtest.data.summaries import Target
from fairtest.data.variables import level_variable, number_variable
from fairtest.engine.memory import MemoryEngine
from fairtest.types import SummaryKind

N = 2000
CASES = [("s", "counts", 2), ("x", "moments", 2), ("x", "moments", 4)]
NAMES = tuple(f"l{i}" for i in range(5))
CONTEXTS = ((), (Condition("g", (0,)),), (Condition("g", (1, 2)), Condition("x", (0, 1, 2, 3))))


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    flags = {name: rng.random(N) < 0.05 * (i + 1) ** 2 for i, name in enumerate(NAMES)}
    sparse = {name: np.where(rng.random(N) < 0.02, None, has) if name == "l1" else has for name, has in flags.items()}
    people = {
        "s": rng.choice(["a", "b", "c"], N),
        "x": np.where(rng.random(N) < 0.05, np.nan, rng.normal(5, 2, N)),
        "g": rng.choice(["u", "v", "w"], N),
        "h": rng.integers(0, 2, N),
    }
    return read_table({**people, **{name: list(v) for name, v in sparse.items()}})


@pytest.mark.parametrize("given", [False, True])
@pytest.mark.parametrize(("attribute", "summary", "order"), CASES)
def test_sums_agree_to_the_last_bit(engine_over, table, attribute, summary, order, given):
    protected = level_variable(table["s"]) if attribute == "s" else number_variable(table["x"])
    strata = level_variable(table["h"]) if given else None
    labels = labels_of(table, NAMES)
    holdout = Holdout(N, 1, 0.4, 0)
    engine, plain = engine_over(table, holdout), MemoryEngine(table, holdout)
    targets = [Target(protected, labels.variable(i), strata, SummaryKind(summary), order) for i in range(5)]
    axes = plain.axes(["g", "h"])
    everything = np.arange(5)
    for number in (0, 1):
        counter = engine.label_counter(number, targets[0], labels)
        found = np.array(list(counter.tables([(c, everything) for c in CONTEXTS])))
        joints = list(counter.joints([(axes, np.array([i, 2])) for i in range(5)]))
        for i, target in enumerate(targets):
            expected = plain.tables(number, CONTEXTS, target)
            assert (found[:, i] == expected).all()
            assert (engine.tables(number, CONTEXTS, target) == expected).all()
            assert (joints[i][:, :, 0] == plain.joint(number, axes, target)).all()
        one = expected[1]
        assert (next(counter.tables([(CONTEXTS[1], np.array([3, 4]))]))[1] == one).all()
        (joint,) = counter.joints([(axes, np.array([4]))])
        assert (joint[:, :, 0] == plain.joint(number, axes, targets[4])).all()
        people = [plain.rows(number, (), target) for target in targets]
        assert counter.n_people == len(people[0])
        assert counter.people.tolist() == [p.output.sum() for p in people]
        inside = [plain.rows(number, CONTEXTS[1], targets[i]) for i in (3, 1)]
        rows = counter.design(CONTEXTS[1], np.array([3, 1]))
        assert rows.labels.toarray().T.tolist() == [p.output.tolist() for p in inside]
        assert rows.stratum.tolist() == inside[0].stratum.tolist()


def test_the_nodes_of_a_tree_are_contexts(engine_over, table):
    labels = labels_of(table, NAMES)
    target = Target(level_variable(table["s"]), labels.variable(0), None, SummaryKind.COUNTS)
    engine = engine_over(table, Holdout(N, 1, 0.4, 0))
    counter = engine.label_counter(0, target, labels)
    g, h = engine.axes(["g", "h"])
    frontier = counter.frontier(np.array([0, 4]))
    child = np.full((1, 256), -1, dtype=np.int32)
    child[0, :3] = 1, -1, 0
    frontier.advance([g], child)
    assert frontier.n_nodes == 2
    (found,) = frontier.histograms([h], 0, 2)
    for node, code in ((0, 2), (1, 0)):
        for value in range(h.size):
            context = (Condition("g", (code,)), Condition("h", (value,)))
            (expected,) = counter.tables([(context, np.array([0, 4]))])
            assert (found[node, value] == expected).all()
