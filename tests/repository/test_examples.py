"""The story of healthcare is the paper's on made-up patients, and is true in part on real ones."""

from __future__ import annotations

import pytest

from examples import healthcare
from examples.command import Sources, default_sources

SOURCES = default_sources()


@pytest.fixture(scope="module")
def story():
    return healthcare.run(Sources()).made_up


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

    def test_without_the_data_real_patients_are_skipped(self, story):
        told = "\n".join(healthcare.tell(healthcare.Story(story, None)))
        assert told.endswith("the same on real patients is skipped.")


@pytest.mark.skipif(not SOURCES.has(healthcare.FILE), reason=f"{healthcare.FILE} is not beside the repository")
class TestDiabetes:
    def test_the_first_stay_of_each_patient(self):
        from examples.diabetes import features, first_stays

        stays = first_stays(SOURCES.file(healthcare.FILE))
        assert stays.height == stays["patient_nbr"].n_unique() == 71_518
        assert stays["age"].min() == 5
        assert features(stays).shape == (71_518, 23)
