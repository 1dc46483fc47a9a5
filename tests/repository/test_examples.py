"""The examples tell what they claim to tell."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DIABETES = ROOT.parent / "shared" / "data" / "diabetes130.csv.gz"


@pytest.fixture(autouse=True, scope="module")
def _from_the_root():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "path", [str(ROOT), *sys.path])
        yield


@pytest.fixture(scope="module")
def story(_from_the_root):
    from examples.healthcare import story

    return story()


class TestHealthcare:
    """The paper's story: error grows with age, confidence explains it, confident predictions have no such link."""

    def test_detect(self, story):
        everyone, strongest = story.detected.populations[0], story.detected.findings[0]
        assert everyone.significant
        assert everyone.effect > 0.15
        assert everyone.table.line.slope > 0
        means = [group.mean for group in everyone.table.rows]
        assert means[-1] > 2 * means[0]
        assert str(strongest.context) == "urgent_care > 0"
        assert strongest.effect > everyone.effect

    def test_explain(self, story):
        overall, given = story.detected.populations[0], story.explained.populations[0]
        assert story.explained.explanatory == ("width",)
        assert given.interval[1] < overall.interval[0]
        assert abs(given.effect) < overall.effect / 4

    def test_remedy(self, story):
        after = story.remedied.populations[0]
        assert not after.significant
        assert after.interval[1] < story.detected.populations[0].interval[0]
        means = [group.mean for group in after.table.rows]
        assert max(means) < 1.25 * min(means)

    def test_what_the_remedy_costs(self, story):
        """Fewer of the old get a prediction: the report on that says so."""
        answered = story.answered.populations[0]
        assert answered.significant
        assert answered.effect < -0.1

    def test_each_step_has_a_test_set_of_its_own(self, story):
        assert [r.settings.set for r in (story.detected, story.explained, story.remedied, story.answered)] == [
            1,
            2,
            3,
            3,
        ]

    def test_prints_what_is_beside_it(self, story, capsys, monkeypatch):
        from examples import healthcare

        monkeypatch.setattr(healthcare, "story", lambda: story)
        healthcare.main()
        printed = capsys.readouterr().out
        assert printed == (ROOT / "examples" / "output" / "healthcare.txt").read_text("utf-8")


class TestDiabetes:
    def test_the_first_stay_of_each_patient(self):
        if not DIABETES.exists():
            pytest.skip(f"{DIABETES.name} is not beside the repository")
        from examples.diabetes import features, first_stays

        stays = first_stays(str(DIABETES))
        assert stays.height == stays["patient_nbr"].n_unique() == 71_518
        assert stays["age"].min() == 5
        assert features(stays).shape == (71_518, 23)

    def test_its_story(self):
        if not DIABETES.exists():
            pytest.skip(f"{DIABETES.name} is not beside the repository")
        pytest.importorskip("sklearn", reason="scikit-learn is not installed: see the dependency group 'examples'")
        from examples.diabetes import story

        told = story(str(DIABETES))
        everyone = told.detected.populations[0]
        assert everyone.significant
        assert 0.03 < everyone.effect < 0.15
        assert told.remedied.populations[0].effect > everyone.effect / 2
