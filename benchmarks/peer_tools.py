"""The other tools on the common task, run in their own environment: every conjunction, the gap between two groups.

Every function prepares the work and returns it; what is timed is the call of what is returned, from a pandas frame to
the gap in each conjunction of up to three values with enough people. See :mod:`benchmarks.peers` for the data.
"""

from __future__ import annotations

import warnings
from collections import namedtuple
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

DEPTH = 3


def _frame(path: str) -> tuple[pd.DataFrame, np.ndarray, np.ndarray]:
    """Return the attributes as categories, who belongs to the group, and who has the output."""
    import pandas as pd

    with np.load(path) as stored:
        names = [str(n) for n in stored["names"]]
        columns = {
            name: pd.Categorical.from_codes(stored[f"codes_{i}"], [str(v) for v in stored[f"levels_{i}"]])
            for i, name in enumerate(names)
        }
        return pd.DataFrame(columns), stored["group"].astype(bool), stored["output"].astype(bool)


def _sets(names: list[str]) -> list[tuple[str, ...]]:
    return [chosen for k in range(1, DEPTH + 1) for chosen in combinations(names, k)]


def _summed(gaps: Any) -> dict[str, Any]:
    """Return the number of conjunctions with a gap, the sum of the gaps and the widest: enough to compare tools."""
    values = np.asarray(gaps, dtype=float)
    known = values[~np.isnan(values)]
    widest = float(np.abs(known).max()) if known.size else 0.0
    return {"conjunctions": int(values.size), "gap_sum": float(np.abs(known).sum()), "widest": widest}


def bincount(path: str, least: int) -> Any:
    """Plain numpy, as a check: a joint table of codes for each set of attributes."""
    frame, group, output = _frame(path)

    def work() -> dict[str, Any]:
        codes = {name: frame[name].cat.codes.to_numpy().astype(np.int64) for name in frame.columns}
        sizes = {name: len(frame[name].cat.categories) for name in frame.columns}
        cell = output * 2 + group
        gaps = []
        for chosen in _sets(list(frame.columns)):
            index = np.zeros(len(frame), dtype=np.int64)
            for name in chosen:
                index = index * sizes[name] + codes[name]
            counts = np.bincount(index * 4 + cell, minlength=4 * int(np.prod([sizes[n] for n in chosen])))
            counts = counts.reshape(-1, 2, 2)
            counts = counts[counts.sum(axis=(1, 2)) >= least]
            with np.errstate(invalid="ignore", divide="ignore"):
                rate = counts[:, 1] / counts.sum(axis=1)
            gaps.append(rate[:, 1] - rate[:, 0])
        return _summed(np.concatenate(gaps))

    return work


def distinct(path: str, least: int) -> Any:
    """Count the conjunctions FairTest looks at: fewer people than each shorter one in them, and people of both groups.

    Grouped by pandas, which shares nothing with the way FairTest counts.
    """
    frame, group, _ = _frame(path)

    def work() -> dict[str, Any]:
        table = frame.assign(group=group)
        size: dict[tuple[tuple[str, str], ...], int] = {(): len(table)}
        many = 0
        for chosen in _sets(list(frame.columns)):
            for values, people in table.groupby(list(chosen), observed=True)["group"]:
                if len(people) < least:
                    continue
                named = tuple(zip(chosen, values, strict=True))
                size[named] = len(people)
                shorter = [named[:i] + named[i + 1 :] for i in range(len(named))]
                many += all(len(people) < size[s] for s in shorter) and 0 < people.sum() < len(people)
        return {"conjunctions": int(many)}

    return work


def _gap_measure(kind: Any, least: int) -> Any:
    """Return a quality for pysubgroup: the gap of two groups' rates; ``kind`` is each person's group and output."""
    import pysubgroup as ps

    counted = namedtuple("counted", ["size_sg", "n1", "x1", "n0", "x0"])

    class Gap(ps.BoundedInterestingnessMeasure):
        required_stat_attrs = ("size_sg", "n1", "x1", "n0", "x0")
        has_constant_statistics = True
        gp_requires_cover_arr = False

        def calculate_constant_statistics(self, data: Any, target: Any) -> None:
            pass

        def calculate_statistics(self, subgroup: Any, target: Any, data: Any, statistics: Any = None) -> Any:
            cover = getattr(subgroup, "representation", slice(None) if subgroup is None else subgroup)
            a, b, c, d = np.bincount(kind[cover], minlength=4)
            return counted(a + b + c + d, b + d, d, a + c, c)

        def evaluate(self, subgroup: Any, target: Any, data: Any, statistics: Any = None) -> Any:
            with np.errstate(invalid="ignore", divide="ignore"):
                gap = np.abs(np.divide(statistics.x1, statistics.n1) - np.divide(statistics.x0, statistics.n0))
            return np.nan_to_num(gap)

        def optimistic_estimate(self, subgroup: Any, target: Any, data: Any, statistics: Any = None) -> Any:
            return np.where(np.asarray(statistics.size_sg) >= least, np.inf, -np.inf)

        def gp_get_null_vector(self) -> Any:
            return np.zeros(4, dtype=np.int64)

        def gp_get_stats(self, row: int) -> Any:
            one = np.zeros(4, dtype=np.int64)
            one[kind[row]] = 1
            return one

        def gp_merge(self, left: Any, right: Any) -> None:
            left += right

        def gp_get_params(self, cover: Any, vector: Any) -> Any:
            a, b, c, d = vector
            return counted(a + b + c + d, b + d, d, a + c, c)

        def gp_size_sg(self, stats: Any) -> Any:
            return np.sum(stats)

    return Gap()


def pysubgroup(path: str, least: int, algorithm: str = "DFS") -> Any:
    """Search with a quality of our own: pysubgroup has none that compares two groups."""
    import pysubgroup as ps

    frame, group, output = _frame(path)
    gap = _gap_measure((output * 2 + group).astype(np.int64), least)
    searches = {
        "DFS": lambda: ps.DFS(ps.BitSetRepresentation),
        "Apriori": lambda: ps.Apriori(use_numba=False),
        "GpGrowth": ps.GpGrowth,
    }

    def work() -> dict[str, Any]:
        space = [ps.EqualitySelector(name, value) for name in frame.columns for value in frame[name].cat.categories]
        task = ps.SubgroupDiscoveryTask(
            frame,
            ps.BinaryTarget(frame.columns[0], frame[frame.columns[0]].cat.categories[0]),
            space,
            gap,
            result_set_size=10**6,
            depth=DEPTH,
            min_quality=-1.0,
            constraints=[ps.MinSupportConstraint(least)],
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = searches[algorithm]().execute(task).results
        return _summed([quality for quality, group_, s in found if s.size_sg >= least and len(group_.selectors)])

    return work


def divexplorer(path: str, least: int) -> Any:
    """Two outcomes at once: the output of the group, and that of the reference; their difference is the gap.

    Its interface has no limit on the length of patterns; its FP-growth has, and gets it here.
    """
    import divexplorer.divexplorer as module
    from divexplorer import DivergenceExplorer

    frame, group, output = _frame(path)
    module.fpgrowth_cm = partial(module.fpgrowth_cm, max_len=DEPTH)

    def work() -> dict[str, Any]:
        asked = frame.copy()
        asked["of_group"] = np.where(group, output.astype(float), np.nan)
        asked["of_reference"] = np.where(group, np.nan, output.astype(float))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = DivergenceExplorer(asked).get_pattern_divergence(
                min_support=least / len(frame),
                attributes=list(frame.columns),
                boolean_outcomes=["of_group", "of_reference"],
            )
        found = found[(found["length"] >= 1) & (found["length"] <= DEPTH)]
        return _summed(found["of_group"] - found["of_reference"])

    return work


def sliceline(path: str, least: int, slices: int = 10) -> Any:
    """Find the slices with the largest mean of the output: it has one vector of errors and compares no groups."""
    from sliceline.slicefinder import Slicefinder

    frame, _, output = _frame(path)

    def work() -> dict[str, Any]:
        codes = np.stack([frame[name].cat.codes.to_numpy() + 1 for name in frame.columns], axis=1)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = Slicefinder(alpha=0.99, k=slices, max_l=DEPTH, min_sup=least, verbose=False)
            found.fit(codes, output.astype(float))
        return {"conjunctions": len(found.top_slices_)}

    return work


def aequitas(path: str, least: int, share: float = 1.0) -> Any:
    """Its group metrics for an attribute made of up to three others and the group."""
    from aequitas.group import Group

    frame, group, output = _frame(path)

    def work() -> dict[str, Any]:
        values = {name: frame[name].astype(str) for name in frame.columns}
        sex = np.where(group, "1", "0")
        done, gaps = _part(_sets(list(frame.columns)), share), []
        for chosen in done:
            crossed = values[chosen[0]]
            for name in chosen[1:]:
                crossed = crossed + "\t" + values[name]
            asked = crossed.to_frame("who")
            asked["who"] = asked["who"] + "\n" + sex
            asked["score"], asked["label_value"] = output.astype(int), 1
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                counts, _ = Group().get_crosstabs(asked, attr_cols=["who"])
            gaps.append(_from_halves(counts["attribute_value"], counts["group_size"], counts["pp"], least))
        return _summed(np.concatenate(gaps))

    return work


def _from_halves(who: Any, size: Any, positive: Any, least: int) -> np.ndarray:
    """Return the gap of every conjunction from the sizes and positives of its two groups."""
    import pandas as pd

    parts = who.str.rsplit("\n", n=1, expand=True)
    table = pd.DataFrame({"who": parts[0], "group": parts[1], "n": size, "x": positive})
    wide = table.pivot(index="who", columns="group", values=["n", "x"]).astype(float)
    n = wide["n"].reindex(columns=["0", "1"]).fillna(0.0)
    x = wide["x"].reindex(columns=["0", "1"])
    enough = n.sum(axis=1) >= least
    return ((x["1"] / n["1"]) - (x["0"] / n["0"]))[enough].to_numpy()


def fairlearn(path: str, least: int, share: float = 1.0) -> Any:
    """Make a MetricFrame of the group's rates with up to three control features, and its differences."""
    from fairlearn.metrics import MetricFrame, count, selection_rate

    frame, group, output = _frame(path)

    def work() -> dict[str, Any]:
        attributes = frame.astype(str)
        done, gaps = _part(_sets(list(frame.columns)), share), []
        for chosen in done:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                made = MetricFrame(
                    metrics={"rate": selection_rate, "people": count},
                    y_true=output,
                    y_pred=output,
                    sensitive_features=group,
                    control_features=attributes[list(chosen)],
                )
                people = made.by_group["people"].unstack().sum(axis=1)
                rate = made.by_group["rate"].unstack()
            gaps.append((rate[True] - rate[False])[people >= least].to_numpy())
        return _summed(np.concatenate(gaps))

    return work


def _part(sets: list[tuple[str, ...]], share: float) -> list[tuple[str, ...]]:
    """Return every n-th set of attributes, so that all lengths have their share."""
    return sets[:: max(round(1 / share), 1)]


def tree_grower(path: str, depth: int = 5) -> Any:
    """Grow a tree as scikit-learn's gradient boosting does, on codes already binned, with one thread: the yardstick."""
    from sklearn.ensemble._hist_gradient_boosting.grower import TreeGrower

    with np.load(path) as stored:
        binned = np.asfortranarray(stored["binned"])
        gradients = stored["gradients"].astype(np.float32)
    hessians = np.ones(1, dtype=np.float32)

    def work() -> dict[str, Any]:
        bins = int(binned.max()) + 1
        grower = TreeGrower(
            binned, gradients, hessians, max_depth=depth, min_samples_leaf=100, n_bins=bins, n_threads=1
        )
        grower.grow()
        return {"nodes": grower.n_nodes}

    return work
