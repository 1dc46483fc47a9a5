"""Algorithm 1 as the paper writes it, and its metrics, in plain Python over lists of rows."""

from __future__ import annotations

import math

import numpy as np

from fairtest.data.summaries import Counts
from fairtest.metrics.choice import find_metric
from fairtest.model.context import Context, Op, Predicate
from fairtest.search.scoring import Z_SEARCH

ORDER = ("low", "mid", "high")


def said(found):
    """Return the contexts as sets of (column, operator, value)."""
    return {spoken(c) for c in found.contexts}


def spoken(context):
    return frozenset((p.column, p.op.value, p.value) for p in context.predicates)


class Algorithm1:
    """The recursion of the paper over lists of rows, with the rules it leaves open.

    Parts below the minimum size are dropped; parts without an association to measure count as 0 in averages and are no
    contexts; of equal scores the first attribute by name and its lowest threshold wins.
    """

    def __init__(self, rows, attributes, metric, *, min_size, max_depth, aggregate="avg"):
        self.attributes = sorted(attributes.items())
        self.metric, self.aggregate = metric, aggregate
        self.min_size, self.max_depth = min_size, max_depth
        self.cuts = {}
        for name, kind in self.attributes:
            present = {r[name] for r in rows} - {None}
            if kind == "number":
                self.cuts[name] = sorted(present)[:-1]
            elif kind == "ordered":
                self.cuts[name] = [v for v in ORDER if v in present][:-1]
        rows = [r for r in rows if r["s"] is not None and r["o"] is not None and r.get("e", 0) is not None]
        self.contexts = []
        self.looked_at = 1
        self.find_contexts(rows, ())

    def find_contexts(self, rows, predicates):
        """FindContexts(D, P)."""
        self.contexts.append(predicates)
        if len(predicates) >= self.max_depth:
            return
        here = rounded(self.metric(rows))
        best, best_score = None, -math.inf
        for name, kind in self.attributes:
            for parts in self.partitions(rows, name, kind):
                kept = [(p, part) for p, part in parts if len(part) >= max(self.min_size, 1)]
                self.looked_at += len(kept)
                strengths = [rounded(self.metric(part)) for _, part in kept]
                defined = [m for m in strengths if not math.isnan(m)]
                if not any(m > here for m in defined):
                    continue  # Score ← 0
                score = rounded(self.score(strengths, [len(part) for _, part in kept]))
                if score > best_score:
                    best, best_score = [k for k, m in zip(kept, strengths, strict=True) if not math.isnan(m)], score
        if best is None or best_score <= here:
            return  # no partition yields a higher association
        for predicate, part in best:
            self.find_contexts(part, (*predicates, predicate))

    def score(self, strengths, sizes):
        values = [0.0 if math.isnan(m) else m for m in strengths]
        if self.aggregate == "max":
            return max(m for m in strengths if not math.isnan(m))
        weights = sizes if self.aggregate == "weighted" else [1] * len(sizes)
        return sum(w * v for w, v in zip(weights, values, strict=True)) / sum(weights)

    def partitions(self, rows, name, kind):
        """Yield the ways to partition rows by an attribute: by value, or at each threshold; missing by itself."""
        missing = (Predicate(name, Op.MISSING), [r for r in rows if r[name] is None])
        present = [r for r in rows if r[name] is not None]
        if kind == "category":
            values = sorted({r[name] for r in present})
            yield [*((Predicate(name, Op.IS, v), [r for r in present if r[name] == v]) for v in values), missing]
            return
        order = ORDER if kind == "ordered" else ()
        place = ORDER.index if kind == "ordered" else float
        for cut in self.cuts[name]:
            low = [r for r in present if place(r[name]) <= place(cut)]
            high = [r for r in present if place(r[name]) > place(cut)]
            yield [
                (Predicate(name, Op.AT_MOST, cut, order), low),
                (Predicate(name, Op.ABOVE, cut, order), high),
                missing,
            ]

    @property
    def found(self):
        return {spoken(Context.of(p)) for p in self.contexts}


def rounded(value):
    return round(value, 12) if math.isfinite(value) else value


def by_stratum(rows):
    strata = {}
    for r in rows:
        strata.setdefault(r.get("e"), []).append(r)
    return strata.values()


def averaged(rows, effect):
    """Return Σ (n_e / n)·effect over the strata where it is a number."""
    each = [(len(part), effect(part)) for part in by_stratum(rows)]
    each = [(n, x) for n, x in each if not math.isnan(x)]
    total = sum(n for n, _ in each)
    return sum(n * x for n, x in each) / total if total else math.nan


def difference(rows):
    def one(part):
        rates = []
        for group in ("f", "m"):
            hits = [r["o"] == "yes" for r in part if r["s"] == group]
            rates.append(sum(hits) / len(hits) if hits else math.nan)
        return rates[0] - rates[1]

    return abs(averaged(rows, one))


def log_ratio(rows):
    rates = []
    for group in ("f", "m"):
        hits = [r["o"] == "yes" for r in rows if r["s"] == group]
        rates.append(sum(hits) / len(hits) if hits else math.nan)
    group, reference = rates
    if math.isnan(group) or math.isnan(reference) or reference == 0:
        return math.nan
    return abs(math.log(group / reference)) if group else math.inf


def information(rows):
    def entropy(values):
        counts = {v: values.count(v) for v in set(values)}
        return -sum(c / len(values) * math.log(c / len(values)) for c in counts.values())

    def one(part):
        s, o = [r["s"] for r in part], [r["o"] for r in part]
        if len(set(s)) < 2 or len(set(o)) < 2:
            return math.nan
        return (entropy(s) + entropy(o) - entropy(list(zip(s, o, strict=True)))) / min(entropy(s), entropy(o))

    return averaged(rows, one)


def correlation(rows):
    s, o = (np.array([r[k] for r in rows]) for k in "so")
    if len(rows) < 2 or np.ptp(s) == 0 or np.ptp(o) == 0:
        return math.nan
    return abs(np.corrcoef(s, o)[0, 1])


def variation(rows):
    o = np.array([r["o"] for r in rows])
    groups = [np.array([r["o"] for r in rows if r["s"] == g]) for g in {r["s"] for r in rows}]
    if len(groups) < 2 or np.ptp(o) == 0:
        return math.nan
    return sum(len(g) * (g.mean() - o.mean()) ** 2 for g in groups) / ((o - o.mean()) ** 2).sum()


def difference_bound(rows):
    """Return what guides the default search, from a table counted here."""
    counts = [[sum(r["s"] == s and r["o"] == o for r in rows) for s in ("m", "f")] for o in ("no", "yes")]
    return float(find_metric("DIFF").bound(Counts(np.array([counts])), Z_SEARCH))
