"""What must not matter: the order of columns, the names of categories and, given the split, the order of rows.

Findings are compared to the last digit (for other names, to the last but a few), Monte-Carlo p-values included: what
is drawn may hang on the seed and on the numbers at hand only.
"""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest

import fairtest as ft
from fairtest.model.finding import CountTable
from fairtest.statistics.tables.information import smallest_expected

PEOPLE = 1200


def people() -> pl.DataFrame:
    """Small contexts with weak links, so that p-values are drawn; a rare race, so that tables are sparse."""
    rng = np.random.default_rng(31)
    race = rng.choice(["ash", "birch", "cedar", "date"], PEOPLE, p=[0.5, 0.33, 0.15, 0.02])
    city = rng.choice(["Paris", "Quito", "Rome"], PEOPLE, p=[0.4, 0.35, 0.25])
    woman = rng.random(PEOPLE) < 0.42
    age = rng.integers(18, 80, PEOPLE)
    link = (city == "Quito") * 1.0
    pay = rng.gamma(4, 5, PEOPLE) * (1 + 0.6 * link * (race == "cedar")) + 0.16 * link * age - 3 * link * woman
    return pl.DataFrame(
        {
            "sex": np.where(woman, "woman", "man"),
            "race": race,
            "age": age,
            "city": city,
            "job": rng.choice(["judge", "knight", "lord"], PEOPLE),
            "shift": rng.choice(["day", "night"], PEOPLE, p=[0.7, 0.3]),
            "hired": np.where(rng.random(PEOPLE) < np.where(woman & (city == "Quito"), 0.15, 0.5), "yes", "no"),
            "choice": np.where(
                (race == "cedar") & (city == "Quito") & (rng.random(PEOPLE) < 0.6),
                "left",
                rng.choice(["left", "middle", "right"], PEOPLE, p=[0.2, 0.5, 0.3]),
            ),
            "pay": pay,
        }
    )


FRAME = people()
CASES = {
    "NMI": {"protected": "race", "output": "choice"},
    "DIFF": {"protected": "sex", "output": "hired"},
    "RATIO": {"protected": "sex", "output": "hired", "metrics": "RATIO"},
    "CORR": {"protected": "age", "output": "pay"},
    "MEAN": {"protected": "sex", "output": "pay"},
    "ETA": {"protected": "race", "output": "pay"},
    "RANK": {"protected": "age", "output": "pay", "metrics": "RANK"},
    "DIFF given shift": {"protected": "sex", "output": "hired", "explanatory": "shift"},
}
every_case = pytest.mark.parametrize("case", CASES.values(), ids=CASES)


def audited(frame, case: dict, sets: np.ndarray | None = None, seed: int = 4, **how) -> ft.Report:
    """Return the report; ``sets`` gives the set of every row instead of the seeded split."""
    source = ft.DataSource(frame, seed=seed, train_size=0.5)
    if sets is not None:
        # a negative number is that of a test set and the training set together
        source.holdout.rows = lambda number: np.flatnonzero((sets == abs(number)) | ((number < 0) & (sets == 0)))
    used = (*np.atleast_1d(case["protected"]), case["output"], case.get("explanatory"))
    exclude = [c for c in ("sex", "race", "hired", "choice", "pay") if c not in used]
    how = {"search": "tree", "correction": "holm", "max_depth": 2, **how}
    return ft.audit(source, **case, exclude=exclude, min_size=60, **how)


def set_of_each_row() -> np.ndarray:
    """Return the number of the set that each row of the frame is in."""
    sets = np.zeros(PEOPLE, dtype=int)
    sets[ft.DataSource(FRAME, seed=4, train_size=0.5).holdout.rows(1)] = 1
    return sets


def essence(report: ft.Report, names: dict | None = None) -> list:
    """Return every number of a report, and its contexts with names put back."""
    old = (names or {}).get
    attributes = []
    for a in report.attributes:
        findings = [_finding(f, old) for f in (a.population, *a.findings)]
        counts = (a.name, a.looked_at, a.tested, a.untestable, a.significant, a.reported, a.left_out)
        attributes.append((counts, old(a.reference, a.reference), findings))
    return [old(report.favourable, report.favourable), attributes]


def _finding(f: ft.Finding, old) -> tuple:
    context = frozenset((p.column, str(p.op), old(p.value, p.value)) for p in f.predicates)
    strata = {frozenset((k, old(v, v)) for k, v in s.values.items()): _numbers(s, old) for s in f.strata}
    return context, _numbers(f, old), f.ratio, f.ratio_interval, f.notes, tuple(sorted(strata.items(), key=str))


def _numbers(part, old) -> tuple:
    numbers = (part.size, part.effect, part.interval, part.interval_single, part.p_value, part.p_value_raw)
    if isinstance(part.table, CountTable):
        cells = {
            (old(row, row), old(column, column)): count
            for row, line in zip(part.table.rows, part.table.counts, strict=True)
            for column, count in zip(part.table.columns, line, strict=True)
        }
        return (*numbers, tuple(sorted(cells.items())))
    groups = {old(g.name, g.name): (g.size, g.mean, g.deviation, g.quantiles) for g in part.table.rows}
    return (*numbers, tuple(sorted(groups.items())))


def same(a, b) -> bool:
    """Whether two essences are equal but for rounding in the last digits."""
    if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b, strict=True))
    if isinstance(a, float) and isinstance(b, float):
        return a == pytest.approx(b, rel=1e-10, abs=1e-13)
    return a == b


def renamed(frame: pl.DataFrame) -> tuple[pl.DataFrame, dict]:
    """Give every text value a name that sorts the other way round; return the way back too."""
    back = {}
    for column in [c for c in frame.columns if frame[c].dtype == pl.String]:
        values = sorted(frame[column].unique())
        new = {v: f"{column}-{len(values) - i:02d}" for i, v in enumerate(values)}
        back |= {name: value for value, name in new.items()}
        frame = frame.with_columns(pl.col(column).replace_strict(new))
    return frame, back


def test_the_cases_are_what_they_are_meant_to_be():
    """Findings, sparse tables, drawn p-values; otherwise there would be nothing to compare."""
    for name, case in CASES.items():
        report = audited(FRAME, case)
        assert report.tested > 3, name
        assert report.findings or name in ("RANK", "MEAN"), name
    sparse = audited(FRAME, CASES["NMI"])
    tables = [np.array(f.table.counts)[None] for f in sparse.findings]
    assert all(smallest_expected(t)[0] < 5 for t in tables)
    for name in ("NMI", "CORR"):
        report = audited(FRAME, CASES[name], population_share=0)
        assert any(is_drawn(f.p_value_raw) for f in (*report.populations, *report.findings)), name


def is_drawn(p: float) -> bool:
    """Whether a p-value is (1 + hits) / (1 + draws), the draws doubling from 256."""
    hits = p * (1 + 256 * 2.0 ** np.arange(10))
    return bool(np.any(np.abs(hits - np.rint(hits)) < 1e-9 * hits))


def test_the_comparison_of_names_notices_a_difference():
    here = essence(audited(FRAME, CASES["NMI"]))
    assert same(here, here)
    assert not same(here, essence(audited(FRAME.with_columns(pl.col("race").shift(1, fill_value="ash")), CASES["NMI"])))
    assert not same([1.0], [1.0 + 1e-8])
    assert not same([1.0], [1.0, 1.0])


@every_case
def test_the_same_seed_gives_the_same_report_byte_for_byte(case):
    first, again = (audited(FRAME, case) for _ in range(2))
    assert first.to_json().encode() == again.to_json().encode()
    assert first.to_text() == again.to_text()
    assert first.to_html() == again.to_html()


@every_case
def test_another_seed_gives_another_split(case):
    """The comparison can fail."""
    assert essence(audited(FRAME, case)) != essence(audited(FRAME, case, seed=5))


@every_case
def test_the_order_of_columns_does_not_matter(case):
    expected = essence(audited(FRAME, case))
    assert essence(audited(FRAME.select(FRAME.columns[::-1]), case)) == expected
    shuffled = np.random.default_rng(0).permutation(FRAME.columns).tolist()
    assert essence(audited(FRAME.select(shuffled), case)) == expected


def test_the_order_of_columns_does_not_decide_between_twins():
    """Two columns that say the same make equal cuts: the name decides, not the place."""
    frame = FRAME.with_columns(abode=pl.col("city"), zone=pl.col("city"))
    first = audited(frame, CASES["DIFF"])
    assert essence(audited(frame.select(frame.columns[::-1]), CASES["DIFF"])) == essence(first)
    assert any("abode" in f.context.columns for f in first.findings)


@every_case
def test_the_order_of_rows_does_not_matter_given_the_split(case):
    sets = set_of_each_row()
    expected = essence(audited(FRAME, case))
    for seed in range(2):
        order = np.random.default_rng(seed).permutation(PEOPLE)
        assert essence(audited(FRAME[order], case, sets=sets[order])) == expected


@every_case
def test_the_names_of_categories_do_not_matter(case):
    """Sums over groups may round in another order; nothing else, and no draw, may differ."""
    new, back = renamed(FRAME)
    assert same(essence(audited(new, case), back), essence(audited(FRAME, case)))


@every_case
def test_the_library_does_not_matter(case):
    expected = essence(audited(FRAME, case))
    assert essence(audited(FRAME.to_pandas(), case)) == expected
    assert essence(audited(FRAME.to_arrow(), case)) == expected


@pytest.mark.parametrize(
    ("name", "correction"),
    [
        *((name, "pooled") for name in ("NMI", "DIFF", "ETA")),
        *((name, "max-t") for name in ("NMI", "DIFF", "ETA", "MEAN", "DIFF given shift")),
    ],
)
def test_neither_does_it_for_other_searches_and_corrections(name, correction):
    """Every conjunction tried, weights by what the training set shows, and draws of everything at once."""
    how = {"search": "exhaustive", "correction": correction, "max_depth": 2 if name in ("DIFF", "ETA") else 1}
    how["max_depth"] = 1 if correction == "max-t" else how["max_depth"]
    expected = essence(audited(FRAME, CASES[name], **how))
    assert expected != essence(audited(FRAME, CASES[name]))
    assert essence(audited(FRAME.select(FRAME.columns[::-1]), CASES[name], **how)) == expected
    order = np.random.default_rng(0).permutation(PEOPLE)
    sets = set_of_each_row()
    assert essence(audited(FRAME[order], CASES[name], sets=sets[order], **how)) == expected
    new, back = renamed(FRAME)
    assert same(essence(audited(new, CASES[name], **how), back), expected)


def test_units_do_not_matter():
    """Pay in cents gives the same correlations and tests as pay in a currency."""
    for name in ("CORR", "ETA", "RANK"):
        first = audited(FRAME, CASES[name])
        second = audited(FRAME.with_columns(pl.col("pay") * 128), CASES[name])
        assert [f.context for f in first.findings] == [f.context for f in second.findings]
        for one, other in zip(first.findings, second.findings, strict=True):
            assert one.effect == pytest.approx(other.effect, rel=1e-9)
            assert is_drawn(one.p_value_raw) or one.p_value_raw == pytest.approx(other.p_value_raw, rel=1e-6)


def test_other_protected_attributes_leave_the_raw_numbers_alone():
    """A larger family changes what is corrected, not what was measured."""
    alone = audited(FRAME, {"protected": "sex", "output": "hired"}).populations[0]
    report = audited(FRAME, {"protected": ["sex", "race"], "output": "hired"})
    beside = report.populations[0]
    assert (alone.effect, alone.p_value_raw, alone.interval_single) == (
        beside.effect,
        beside.p_value_raw,
        beside.interval_single,
    )


def test_the_report_holds_no_clock_and_no_path(tmp_path):
    """Two runs at two places give the same bytes."""
    texts = []
    for folder in ("one", "two"):
        path = tmp_path / folder / "people.csv"
        path.parent.mkdir()
        FRAME.write_csv(path)
        report = ft.audit(path, "sex", "hired", min_size=100, search="tree")
        texts.append((report.to_json(), report.to_text(), report.to_html()))
    assert texts[0] == texts[1]
    assert json.loads(texts[0][0])["data"]["name"] == "people.csv"
