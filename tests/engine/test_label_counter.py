"""Labels counted from the people who have them give the same sums as labels counted one by one."""

import numpy as np
import pytest

from fairtest.data.axes import Condition
from fairtest.data.holdout import Holdout
from fairtest.data.labels import labels_of
from fairtest.data.readers import read_table
from fairtest.data.variables import numeric, oriented
from fairtest.engine.memory import MemoryEngine
from fairtest.summaries import Target
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
@pytest.mark.parametrize(
    ("attribute", "summary", "order"), [("s", "counts", 2), ("x", "moments", 2), ("x", "moments", 4)]
)
def test_sums_agree_to_the_last_bit(table, attribute, summary, order, given):
    protected = oriented(table["s"]) if attribute == "s" else numeric(table["x"])
    strata = oriented(table["h"]) if given else None
    labels = labels_of(table, NAMES)
    engine = MemoryEngine(table, Holdout(N, 1, 0.4, 0))
    targets = [Target(protected, labels.variable(i), strata, SummaryKind(summary), order) for i in range(5)]
    axes = [engine.axis("g"), engine.axis("h")]
    for number in (0, 1):
        counter = engine.label_counter(number, targets[0], labels)
        everything = np.arange(5)
        for i, target in enumerate(targets):
            expected = engine.tables(number, CONTEXTS, target)
            found = np.array([counter.table(c, everything)[i] for c in CONTEXTS])
            assert (found == expected).all()
            assert (counter.table(CONTEXTS[1], np.array([4, i]))[1] == expected[1]).all()
            assert (counter.joint(axes, np.array([i, 2]))[:, :, 0] == engine.joint(number, axes, target)).all()
            rows = counter.design(CONTEXTS[1], np.array([3, i]))
            assert rows.labels[:, [1]].sum() == engine.rows(number, CONTEXTS[1], target).output.sum()
        assert (
            counter.people[4]
            == targets[4].wrap(engine.tables(number, [()], targets[4])).size[0]
            - (labels.codes(4)[counter._rows] == 0).sum()
        )
