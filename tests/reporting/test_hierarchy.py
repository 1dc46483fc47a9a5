"""The tree of contexts: what hangs under what, and how it is drawn."""

import re
from dataclasses import replace
from itertools import pairwise

import pytest
import report_builders as build

from fairtest.model.context import Context, Op, Predicate
from fairtest.model.finding import Tested
from fairtest.model.hierarchy import MOST_WITHOUT_TREE, tree_of
from fairtest.reporting.figures.icicle import cells_of, ramp_of

OLD, YOUNG = Predicate("age", Op.ABOVE, 40), Predicate("age", Op.AT_MOST, 40)
SALES = Predicate("job", Op.IS, "Sales")


def other(predicates, size, effect=-0.2, *, significant=True, guided=True):
    return Tested(Context.of(predicates), size, effect, (-0.3, -0.1), 0.01, significant, guided=guided)


def found(predicates, size, effect=-0.3):
    return build.income_finding(context=Context.of(predicates), size=size, effect=effect)


def tree(findings, others):
    return tree_of(build.income_population(), findings, others)


def outline(nodes):
    return [(str(n.part.context), n.depth, str(nodes[n.parent].part.context) if n.parent >= 0 else "") for n in nodes]


def test_everything_hangs_under_the_smallest_that_contains_it():
    inner = found([OLD, SALES, Predicate("age", Op.ABOVE, 50)], 300)
    nodes = tree([inner], [other([OLD], 9000), other([YOUNG], 15000), other([OLD, SALES], 800)])
    assert outline(nodes) == [
        ("everyone", 0, ""),
        ("age ≤ 40", 1, "everyone"),
        ("age > 40", 1, "everyone"),
        ("age > 40, job = Sales", 2, "age > 40"),
        ("age > 50, job = Sales", 3, "age > 40, job = Sales"),
    ]


def test_significant_ones_come_first_then_the_strongest():
    nodes = tree([], [other([OLD], 10, -0.5, significant=False), other([YOUNG], 20, 0.1), other([SALES], 5, -0.2)])
    assert [str(n.part.context) for n in nodes] == ["everyone", "job = Sales", "age ≤ 40", "age > 40"]


def test_a_finding_is_not_hung_up_twice_and_without_a_tree_only_some_are():
    nodes = tree([found([OLD], 900)], [other([OLD], 900)])
    assert len(nodes) == 2
    assert nodes[1].part.effect == -0.3
    many = [other([Predicate("x", Op.IS, i)], 50, guided=False) for i in range(100)]
    assert len(tree([], many)) == 1 + MOST_WITHOUT_TREE


def test_the_order_of_what_comes_in_does_not_matter():
    parts = [other([OLD], 9000), other([YOUNG], 15000), other([OLD, SALES], 800), other([SALES], 800)]
    assert outline(tree([], parts)) == outline(tree([], parts[::-1]))


def test_cells_lie_within_their_parents_and_do_not_overlap():
    overlapping = [other([Predicate("x", Op.AT_MOST, i)], 20000 + i) for i in range(5)]
    nodes = tree([found([OLD], 20000)], [other([YOUNG], 15000), other([OLD, SALES], 800), *overlapping])
    cells = cells_of(nodes)
    for node, cell in zip(nodes[1:], cells[1:], strict=True):
        parent = cells[node.parent]
        assert parent.left - 0.01 <= cell.left
        assert cell.left + cell.width <= parent.left + parent.width + 0.01
    for row in {cell.row for cell in cells}:
        placed = sorted((c.left, c.width) for c in cells if c.row == row)
        assert all(a + w <= b + 0.01 for (a, w), (b, _) in pairwise(placed))


def test_a_picture_has_no_colour_where_nothing_is_significant():
    nodes = tree([found([OLD], 900, -0.6)], [other([YOUNG], 20, 0.19), other([SALES], 9, -0.9, significant=False)])
    signed, plain = ramp_of(nodes, signed=True), ramp_of(nodes, signed=False)
    assert (signed.step, plain.step) == pytest.approx((0.2, 0.1))
    assert [signed.colour(e, significant=True) for e in (-0.6, -0.3, 0.19, None)] == ["b3", "b2", "a1", "qn"]
    assert [plain.colour(e, significant=True) for e in (0.0, 0.05, 0.35, 5.0)] == ["q0", "q0", "q3", "q5"]
    assert signed.colour(-0.9, significant=False) == "qn"


def page_of(others):
    about = build.attribute(build.income_population(), [build.income_finding()], others=others, significant=9)
    return build.report(about, favourable=">50K")


def test_the_page_and_the_json_say_the_same_of_what_is_not_reported():
    others = (
        other([OLD], 9000),
        other([SALES], 700, guided=False),
        other([YOUNG], 15000, significant=False),
        other([SALES, YOUNG], 300, None, significant=False),
    )
    report = page_of(others)
    [about] = report.to_dict()["investigations"][0]["protected"]
    assert [o["significant"] for o in about["others"]] == [True, True, False, False]
    assert about["unlisted"] == report.attributes[0].unlisted == 9 - 2 - 2
    kinds = [{k: v for k, v in node.items() if k != "parent"} for node in about["tree"]]
    assert kinds == [{"population": True}, {"other": 0}, {"finding": 0}, {"other": 2}, {"other": 3}]
    assert [node["parent"] for node in about["tree"]] == [None, 0, 1, 0, 3]
    html = report.to_html()
    assert "7 more groups say the same again (2 listed)" in html
    text = re.sub(r"<[^>]+>", "|", html)
    assert "job = Sales |not tested" in text
    assert "age ≤ 40 |not significant" in text
    assert html.count('class="mark"') == 1, "one finding has an outline"


def test_what_is_not_reported_stands_under_what_it_repeats():
    finding = build.income_finding()
    others = (replace(other([SALES], 700), part_of=finding.context), other([OLD], 9000))
    report = build.report(build.attribute(build.income_population(), [finding], others=others, significant=4))
    text = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", "|", report.to_html()))
    shown = "Parts of group 1, or much like it: age &gt; 46, education &gt; 9, education ≤ 11"
    assert (
        text.index(shown)
        < text.index("|job = Sales|")
        < text.index("No more than everybody")
        < text.index("|age &gt; 40|")
    )
    assert "2 more groups say the same again" in text
    [about] = report.to_dict()["investigations"][0]["protected"]
    assert [o["part_of"] is None for o in about["others"]] == [False, True]
    assert about["others"][0]["part_of"][0]["column"] == "age"


def test_names_in_the_tree_are_escaped():
    html = page_of((other([Predicate(build.HOSTILE, Op.IS, build.HOSTILE)], 900),)).to_html()
    assert "<script>alert" not in html
