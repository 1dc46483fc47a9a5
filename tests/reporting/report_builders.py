"""Reports made by hand, one for each shape a renderer must handle."""

from __future__ import annotations

import datetime as dt
import math

from fairtest.model.context import Context, Op, Predicate
from fairtest.model.described_data import ColumnNote, DataInfo
from fairtest.model.finding import CountTable, Finding, Group, GroupTable, Stratum
from fairtest.model.report import AttributeReport, Report, Settings

HOSTILE = "<script>alert('x')</script>"
INF = math.inf


def settings(**changes):
    known = {
        "conf": 0.95, "level": 0.05, "budget": 1, "set": 1, "train_size": 0.3, "seed": 0, "preset": None,
        "max_depth": 5, "min_size": 100, "correction": "pooled", "search": "auto", "score": "auto",
        "aggregate": "max", "method": "auto",
    }  # fmt: skip
    return Settings(**(known | changes))


def data(name="adult.csv", rows=48842, test=34190, library="csv", columns=()):
    return DataInfo(name, rows, rows - test, test, "9479f8b76861e48c66836d97937f2c5a", library, tuple(columns))


def note(name, kind, role, reason="text, 2 values", missing=0, text=""):
    return ColumnNote(name, kind, role, reason, missing, text)


def counts(output, protected, rows, columns, cells):
    return CountTable(output, protected, tuple(rows), tuple(columns), tuple(tuple(r) for r in cells))


def finding(table, predicates=(), **changes):
    if isinstance(table, CountTable):
        known = {"protected": table.protected, "output": table.output, "size": sum(map(sum, table.counts))}
    else:
        known = {"protected": table.by, "output": table.measured, "size": sum(g.size for g in table.rows)}
    known |= {
        "context": Context.of(predicates), "metric": "DIFF", "effect": -0.1, "interval": (-0.2, -0.05),
        "interval_single": (-0.15, -0.08), "p_value": 1e-12, "p_value_raw": 1e-14, "significant": True, "table": table,
    }  # fmt: skip
    return Finding(**(known | changes))


def attribute(population, findings=(), **changes):
    shown = len(findings) + population.significant
    known = {
        "name": population.protected, "reference": None, "groups": None, "metric": population.metric,
        "looked_at": 827, "tested": 59, "untestable": 2, "significant": shown + 3, "reported": shown,
        "left_out": 17, "population": population, "findings": tuple(findings),
    }  # fmt: skip
    return AttributeReport(**(known | changes))


def report(*attributes, **changes):
    known = {
        "version": "0.1.0", "kind": "testing", "output": attributes[0].population.output, "favourable": None,
        "explanatory": (), "data": data(), "settings": settings(), "attributes": tuple(attributes), "notes": (),
    }  # fmt: skip
    return Report(**(known | changes))


# Two groups, two outputs -----------------------------------------------------------------------------------------


def income_by_sex(cells):
    return counts("income", "sex", ("<=50K", ">50K"), ("Male", "Female"), cells)


def income_population(**changes):
    table = income_by_sex([[11425, 7192], [4921, 883]])
    known = {
        "effect": -0.1917, "interval": (-0.208, -0.175), "interval_single": (-0.202, -0.181), "p_value": 2.4e-263,
        "p_value_raw": 0.0, "ratio": 0.363, "ratio_interval": (0.34, 0.387),
    }  # fmt: skip
    return finding(table, **(known | changes))


def income_finding(**changes):
    table = income_by_sex([[528, 441], [417, 58]])
    where = [
        Predicate("education", Op.ABOVE, 9),
        Predicate("education", Op.AT_MOST, 11),
        Predicate("age", Op.ABOVE, 46),
    ]
    known = {
        "effect": -0.32504, "interval": (-0.392, -0.248), "interval_single": (-0.365, -0.28), "p_value": 1.4e-37,
        "p_value_raw": 2.8e-39, "ratio": 0.263, "ratio_interval": (0.2, 0.34),
    }  # fmt: skip
    return finding(table, where, **(known | changes))


def sales_finding():
    """Return a context whose gap is no wider than the population's but whose ratio is."""
    where = [Predicate("education", Op.AT_MOST, 9), Predicate("occupation", Op.IS, "Sales")]
    return finding(
        income_by_sex([[474, 463], [143, 18]]), where, effect=-0.1944, interval=(-0.25, -0.13),
        interval_single=(-0.23, -0.16), p_value=5e-20, p_value_raw=1e-21, ratio=0.161, ratio_interval=(0.1, 0.26),
    )  # fmt: skip


def income_report(**changes):
    columns = [
        note("sex", "binary", "protected"), note("income", "binary", "output"), note("age", "numeric", "contextual"),
        note("education", "numeric", "contextual"), note("occupation", "categorical", "contextual", missing=2809),
        note("fnlwgt", "numeric", "left out", "numbers", text="excluded by the settings"),
        note("id", "identifier", "left out", "nearly all values different", text="an identifier"),
    ]  # fmt: skip
    about = attribute(
        income_population(), [income_finding(), sales_finding()], reference="Male", groups=("Male", "Female")
    )
    known = {"favourable": ">50K", "data": data(columns=columns), "notes": ("Five rows were repeated.",)}
    return report(about, **(known | changes))


# Given an explanatory attribute -------------------------------------------------------------------------------------

_DEPARTMENTS = {
    "A": ([[164, 9], [265, 44]], 0.212, (0.023, 0.33), 0.015),
    "B": ([[108, 2], [172, 9]], 0.204, (-0.209, 0.373), 1.0),
    "C": ([[98, 198], [58, 94]], -0.05, (-0.179, 0.075), 1.0),
    "F": ([[178, 160], [11, 12]], 0.012, (-0.093, 0.08), 1.0),
}


def admitted(cells):
    return counts("accepted", "gender", ("No", "Yes"), ("Male", "Female"), cells)


def stratum(name, cells, effect, interval, p):
    size = sum(map(sum, cells))
    return Stratum({"department": name}, size, effect, interval, interval, p, p, admitted(cells))


def berkeley_report():
    strata = [stratum(name, *rest) for name, rest in _DEPARTMENTS.items()]
    strata.append(Stratum({"department": "G"}, 12, None, None, None, None, None, admitted([[7, 0], [5, 0]])))
    strata.append(Stratum({"department": "H"}, 4, 0.5, None, None, None, None, admitted([[1, 0], [1, 2]])))
    population = finding(
        admitted([[680, 615], [623, 295]]), metric="DIFF", effect=0.0453, interval=(-0.035, 0.098),
        interval_single=(0.001, 0.08), p_value=0.9991, p_value_raw=0.041, significant=False, strata=tuple(strata),
        notes=("12 people are in departments without women and are left out of the comparison.",),
    )  # fmt: skip
    about = attribute(population, reference="Male", groups=("Male", "Female"), significant=0, reported=0, tested=8)
    place = data("berkeley.csv", rows=4425, test=2213)
    return report(about, favourable="Yes", explanatory=("department",), data=place)


# Many groups --------------------------------------------------------------------------------------------------------

RACES = ("Amer-Indian-Eskimo", "Asian-Pac-Islander", "Black", "Other", "White")


def race_table(cells):
    return counts("income", "race", ("<=50K", ">50K"), RACES, cells)


def race_report():
    population = finding(
        race_table([[200, 548, 2071, 181, 15617], [26, 188, 300, 34, 5256]]), metric="NMI", effect=0.0088,
        interval=(0.0054, 0.0131), interval_single=(0.0066, 0.0112), p_value=5.9e-49, p_value_raw=1e-50,
    )  # fmt: skip
    where = [Predicate("age", Op.ABOVE, 42), Predicate("workclass", Op.IN, ("Private", "State-gov"))]
    context = finding(
        race_table([[24, 105, 422, 36, 2942], [3, 43, 91, 7, 1598]]), where, metric="NMI", effect=0.0146,
        interval=(0.0058, 0.0278), interval_single=(0.0085, 0.022), p_value=9e-16, p_value_raw=2e-17,
    )  # fmt: skip
    return report(attribute(population, [context], groups=RACES), favourable=">50K")


# Numbers ------------------------------------------------------------------------------------------------------------


def group(name, size, mean, deviation=1.5, quantiles=(0.0, 0.6, 1.4, 2.3, 9.5)):
    return Group(name, size, mean, deviation, quantiles)


def numeric_report():
    def table(means):
        names = ("age ≤ 30", "30 < age ≤ 60", "age > 60")
        return GroupTable("error", "age", tuple(group(n, 4000, m) for n, m in zip(names, means, strict=True)))

    population = finding(
        table((1.55, 1.7, 1.83)), metric="CORR", effect=0.06, interval=(0.04, 0.08), interval_single=(0.05, 0.07),
        p_value=2e-21, p_value_raw=1e-23,
    )  # fmt: skip
    where = [Predicate("admission_type", Op.MISSING), Predicate("num_medications", Op.AT_MOST, 10)]
    context = finding(
        table((1.2, 1.3, 1.43)), where, metric="CORR", effect=0.11, interval=(0.06, 0.16),
        interval_single=(0.08, 0.14), p_value=1e-10, p_value_raw=1e-12,
    )  # fmt: skip
    return report(attribute(population, [context]), kind="error profiling")


def eta_table():
    rows = (group("North", 800, 18123.4, 900.0, (9e3, 1.5e4, 1.8e4, 2.1e4, 9e4)), group("South", 900, 20150.0, 950.0),
            Group("East", 0, None, None, None), Group("West", 1, 17000.0, None, None))  # fmt: skip
    return GroupTable("price", "region", rows)


def eta_report():
    population = finding(
        eta_table(), metric="ETA", effect=0.031, interval=(0.01, 0.06), interval_single=(0.02, 0.045),
        p_value=1e-9, p_value_raw=1e-11,
    )  # fmt: skip
    return report(attribute(population))


# Edges --------------------------------------------------------------------------------------------------------------


def undefined_report():
    population = finding(
        income_by_sex([[120, 0], [80, 0]]), effect=None, interval=None, interval_single=None, p_value=None,
        p_value_raw=None, significant=False,
    )  # fmt: skip
    return report(attribute(population, tested=0, significant=0, reported=0), favourable=">50K")


def nothing_report(**changes):
    population = finding(
        income_by_sex([[500, 495], [300, 305]]), effect=0.0062, interval=(-0.04, 0.05), interval_single=(-0.03, 0.04),
        p_value=0.9991, p_value_raw=0.7, significant=False, ratio=1.0166, ratio_interval=(0.9, 1.14),
    )  # fmt: skip
    return report(attribute(population, significant=0, reported=0), favourable=">50K", **changes)


def ratio_finding(**changes):
    known = {"metric": "RATIO", "effect": -0.74, "interval": (-0.85, INF), "interval_single": (-0.8, -0.6)}
    return income_finding(**(known | changes))


def open_report():
    population = income_population(metric="RATIO", effect=-0.637, interval=(-INF, -0.5))
    return report(attribute(population, [ratio_finding(p_value=0.0)], reference="Male"), favourable=">50K")


def odd_report():
    """Return a report on columns with accents, spaces, markup, dates, wide letters and line breaks."""
    table = counts(
        f"état {HOSTILE}",
        "né(e) le & où",
        ("nein\nnie", f"ja {HOSTILE}"),
        ("東京", "Zürich <b>"),
        [[90, 70], [10, 30]],
    )
    where = [
        Predicate("joined on", Op.ABOVE, dt.date(2019, 12, 31)),
        Predicate("a_b & c", Op.IS, f'"quoted" {HOSTILE}'),
        Predicate("score", Op.AT_MOST, 0.123456789),
    ]
    population = finding(table, effect=0.2, interval=(0.1, 0.3), interval_single=(0.12, 0.28))
    context = finding(table, where, effect=0.2, interval=(0.1, 0.3), interval_single=(0.12, 0.28), notes=(HOSTILE,))
    columns = [note(HOSTILE, "identifier", "left out", HOSTILE, text="an identifier & more")]
    place = data(f"{HOSTILE}.csv", rows=400, test=200, columns=columns)
    about = attribute(population, [context], reference="東京", groups=("東京", "Zürich <b>"))
    return report(about, favourable=f"ja {HOSTILE}", data=place, notes=(HOSTILE,))


def discovery_report():
    def labelled(label, cells, predicates=(), **changes):
        return finding(counts(label, "race", (0, 1), ("White", "Black"), cells), predicates, label=label, **changes)

    population = labelled("cart", [[900, 850], [100, 150]], effect=0.05)
    context = labelled("drum", [[95, 80], [5, 20]], [Predicate("indoor", Op.IS, True)], effect=0.15)
    return report(attribute(population, [context], reference="White"), kind="discovery", output="labels")


def all_reports():
    makers = (
        income_report, berkeley_report, race_report, numeric_report, eta_report, undefined_report, nothing_report,
        open_report, odd_report, discovery_report,
    )  # fmt: skip
    return {maker.__name__: maker() for maker in makers}
