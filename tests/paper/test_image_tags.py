"""The paper's image tagger (figure 9 and section 5.3): which labels go with race."""

from __future__ import annotations

import pytest

import fairtest as ft
from calibration.discovery import ALMOST_ALWAYS, KNOWN, tags


@pytest.fixture(scope="module")
def data(paper_data):
    path = paper_data / "image_tags_caffe.csv.gz"
    if not path.exists():
        pytest.skip("the pictures of the paper's tagger are not there: shared/data/image_tags_caffe.csv.gz")
    return path


@pytest.mark.parametrize("preset", [None, "paper"])
def test_face_powder_and_maillot_go_with_pictures_of_white_people(data, preset):
    found = [tags(data, seed, preset) for seed in range(5)]
    for label in ALMOST_ALWAYS:
        assert sum(f.get(label) == KNOWN[label] for f in found) == 5
    assert sum(f.get("cart") == "Black" for f in found) >= 4
    assert sum(f.get("helmet") == "Black" for f in found) >= 4
    for label, race in KNOWN.items():  # never the other way round
        assert all(f.get(label, race) == race for f in found)


def test_rates_are_those_of_the_paper(data):
    source = ft.DataSource(data, preset="paper", reference={"Race": "White"})
    investigation = ft.Discovery(source, "Race", "Labels", separator="|")
    ft.train([investigation], preset="paper")
    ft.test([investigation])
    report = ft.report([investigation])[0]
    rates = {}
    for finding in report.populations:
        without, having = finding.table.counts
        rates[finding.label] = [100 * h / (h + w) for h, w in zip(having, without, strict=True)]
    expected = {"face powder": (10, 1), "maillot": (15, 4), "cart": (0, 4), "helmet": (3, 8), "person": (99, 96)}
    for label, (white, black) in expected.items():
        assert rates[label] == pytest.approx([white, black], abs=2.5)
    assert "get the label" in report.findings[0].sentence
