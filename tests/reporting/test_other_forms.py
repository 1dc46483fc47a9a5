"""Reports as CSV, Markdown and SVG."""

from __future__ import annotations

import csv
import io
import re
from itertools import pairwise
from xml.etree import ElementTree as ET

import polars as pl
import pytest
import report_builders as build

from fairtest.exceptions import InputError
from fairtest.reporting.formats.frame import COLUMNS

REPORTS = build.all_reports()
SVG = "{http://www.w3.org/2000/svg}"


class TestCsv:
    @pytest.mark.parametrize("name", REPORTS)
    def test_is_the_frame(self, name):
        report = REPORTS[name]
        rows = list(csv.DictReader(io.StringIO(report.to_csv())))
        frame = report.to_frame()
        assert len(rows) == frame.height
        assert tuple(rows[0]) == COLUMNS
        for row, expected in zip(rows, frame.iter_rows(named=True), strict=True):
            for column in ("effect", "low", "high", "low_single", "high_single", "p_value"):
                read = float(row[column]) if row[column] else None
                assert read == expected[column]
            assert row["sentence"] == expected["sentence"]
            assert row["significant"] == str(expected["significant"]).lower()

    def test_a_frame_library_reads_it(self, tmp_path):
        build.income_report().to_csv(tmp_path / "findings.csv")
        frame = pl.read_csv(tmp_path / "findings.csv")
        assert frame["effect"].to_list() == [-0.1917, -0.32504, -0.1944]
        assert frame["population"].to_list() == [True, False, False]

    @pytest.mark.parametrize("name", ["=1+1", "+1", "-1", "@x"])
    def test_names_are_no_formulas(self, name):
        table = build.counts(name, name, ("no", "yes"), ("a", "b"), [[5, 5], [5, 5]])
        (row,) = csv.DictReader(io.StringIO(build.report(build.attribute(build.finding(table))).to_csv()))
        assert row["protected"] == f"'{name}"
        assert row["effect"] == "-0.1"


class TestMarkdown:
    def test_says_the_answer_then_the_findings(self, tmp_path):
        text = build.income_report().to_markdown(tmp_path / "r.md")
        assert text == (tmp_path / "r.md").read_text("utf-8")
        assert text.startswith("### FairTest · People with sex = Female have income = \\>50K 19 points less often")
        assert "**827** looked at → **59** tested → **6** significant → **3** reported" in text
        assert "| education ≤ 9, occupation = Sales | 1,098 | −19.4 | \\[−25.0, −13.0\\] | 5e-20 |" in text
        assert "| Female | 7,192 (89.1 %) | 883 (10.9 %) | 8,075 |" in text

    @pytest.mark.parametrize("name", REPORTS)
    def test_tables_are_tables_and_details_are_closed(self, name):
        lines = REPORTS[name].to_markdown().splitlines()
        assert lines.count("</details>") == sum(line.startswith("<details>") for line in lines) >= 2
        for before, line in pairwise(lines):
            if before.startswith("|") and line.startswith("|"):
                assert len(re.findall(r"(?<!\\)\|", before)) == len(re.findall(r"(?<!\\)\|", line))
        assert not re.search(r"\b(nan|inf|None)\b", "\n".join(lines))

    def test_strata(self):
        text = build.berkeley_report().to_markdown()
        assert "| department = A | 482 | +21.2 points | \\[+2.3, +33.0\\] | clear |" in text
        assert "cannot be measured: there are none of those with gender = Female" in text

    def test_values_are_neither_markup_nor_calls(self):
        table = build.counts("a|b", "*s*", ("no", "@everyone"), ("<b>x</b>", "see #12"), [[5, 5], [5, 5]])
        text = build.report(build.attribute(build.finding(table))).to_markdown()
        assert "<b>" not in text.replace("\\<b", "")
        assert "a\\|b" in text
        assert not re.search(r"@\w|#\d", text)

    def test_odd_names_make_no_lines_of_their_own(self):
        text = build.odd_report().to_markdown()
        assert "nein nie" in text
        assert "<script>" not in text.replace("\\<script", "")


class TestFigures:
    @pytest.mark.parametrize("name", REPORTS)
    def test_each_is_svg_that_stands_alone(self, name, tmp_path):
        report = REPORTS[name]
        figures = report.figures()
        paths = report.save_figures(tmp_path / "new" / "figures")
        assert [path.stem for path in paths] == list(figures)
        for path, svg in zip(paths, figures.values(), strict=True):
            assert path.read_text("utf-8") == svg
            root = ET.fromstring(svg)
            assert root.tag == f"{SVG}svg"
            assert root.find(f"{SVG}title").text
            assert not re.search(r"\b(nan|inf|None)\b", svg)
            assert "<script" not in svg
            left, top, width, height = map(float, root.get("viewBox").split())
            for circle in root.iter(f"{SVG}circle"):
                assert left <= float(circle.get("cx")) <= width
                assert top <= float(circle.get("cy")) <= height

    def test_names(self):
        assert list(build.income_report().figures()) == ["sex-forest", "sex-tree", "sex-0", "sex-1", "sex-2"]
        assert list(build.berkeley_report().figures()) == ["gender-forest", "gender-0", "gender-0-strata"]
        assert list(build.undefined_report().figures()) == ["sex-0"]

    def test_two_attributes_whose_names_end_up_alike(self):
        first, second = (
            build.attribute(build.finding(build.counts("o", name, (0, 1), ("a", "b"), [[5, 5], [5, 5]])))
            for name in ("a b", "a-b")
        )
        names = list(build.report(first, second).figures())
        assert len(names) == len(set(names)) == 4

    def test_a_forest_has_a_mark_and_the_numbers_of_each_finding(self):
        svg = build.income_report().figures()["sex-forest"]
        assert svg.count("<circle") == 2
        assert svg.count("M0 -7 7 0 0 7 -7 0Z") == 1, "the diamond of everyone"
        assert "−32.5 [−39.2, −24.8] · 1,444 people" in svg

    def test_the_tree_has_a_cell_for_each_node_and_a_ring_for_each_finding(self):
        report = build.income_report()
        svg = report.figures()["sex-tree"]
        assert svg.count("data-node=") == len(report.attributes[0].tree) == 3
        assert svg.count('class="mark"') == 2 + 1  # and one in the legend
        style = re.search(r"<style>(.*)</style>", svg).group(1)
        used = set(re.findall(r'class="(\w\d)"', svg))
        assert used
        assert all(f".{colour} {{ fill: #" in style for colour in used)
        assert "var(" not in svg

    def test_a_folder_that_is_a_file_is_an_error(self, tmp_path):
        (tmp_path / "taken").write_text("")
        with pytest.raises(InputError, match="it is a file"):
            build.income_report().save_figures(tmp_path / "taken")
