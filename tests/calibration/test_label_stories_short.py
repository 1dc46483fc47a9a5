"""A few of the stories about labels: what was planted is named, and nothing else."""

from __future__ import annotations

import numpy as np

from calibration.label_stories import CHANCE, PLANTED, Told, draw, summarize, tell
from calibration.stories import REFERENCE


def test_reports_about_labels_name_what_was_planted():
    world = draw(np.random.default_rng(1), REFERENCE)
    told = [tell(seed, world) for seed in range(3)]
    kinds = [kind for t in told for kind in t.kinds]
    assert sum(t.recalled for t in told) >= 7
    assert sum(kind in ("exact", "near") for kind in kinds) >= len(kinds) - 1
    assert sum(t.false_overall for t in told) == 0


def test_people_have_tags_as_often_as_planted():
    people = draw(np.random.default_rng(2), 20_000)
    tags = people["tags"].str.split("|")
    low = (people["income"] == "low").to_numpy()
    for name, (everywhere, contexts) in PLANTED.items():
        has = tags.list.contains(name).to_numpy()
        context = next(iter(contexts), None)
        inside = np.ones(people.height, bool) if context is None else context.holds(people)
        gap = has[inside & low].mean() - has[inside & ~low].mean()
        expected = (everywhere + sum(contexts.values())) / 100
        assert abs(gap - expected) < 5 * np.sqrt(0.5 / inside.sum())
    assert all(tags.list.contains(name).any() for name in CHANCE)


def test_marks():
    told = [Told(("exact", "refinement"), 3, 1, 2, 0), Told((), 3, 0, 0, 1)]
    words = summarize(told)
    assert "2 reports, 1.00 groups shown; precision 0.50, recall 0.17, refinements 0.500" in words
    assert "2 of 8 planted, 1 of 16 by chance" in words
