"""The service simulated: worlds of many seeds, and worlds that Hypothesis makes up and makes small."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test
from sqlalchemy import update

from calibration.simulation.play import play, prepare_template
from calibration.simulation.strands import FAIL, GO, KILL
from calibration.simulation.world import World
from fairtest.service.store import runs, sealing
from fairtest.service.store.streams import find_stream

if TYPE_CHECKING:
    from calibration.simulation.strands import Strand

SEEDS = 60


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return prepare_template(tmp_path_factory.mktemp("world") / "template")


def test_worlds_of_many_seeds(template: Path) -> None:
    played = {seed: play(seed, template) for seed in range(SEEDS)}
    assert {seed: each.wrong for seed, each in played.items() if each.wrong} == {}
    assert sum(each.done for each in played.values()) > SEEDS / 4, "hardly any run is spent: the worlds are too poor"


def test_a_seed_plays_the_same_again(template: Path) -> None:
    first, second = play(11, template), play(11, template)
    assert first.log == second.log
    assert first.done == second.done


@pytest.mark.parametrize(
    ("where", "what", "instead"),
    [
        (sealing, "_without_duplicates", lambda _service, _found, frame: (frame, {})),
        (runs, "update_held", lambda lease: update(lease.table).where(lease.table.c.id == lease.id)),
    ],
    ids=["duplicates are kept", "leases are not looked at"],
)
def test_a_broken_service_is_found_out(
    template: Path, monkeypatch: pytest.MonkeyPatch, where: object, what: str, instead: object
) -> None:
    monkeypatch.setattr(where, what, instead)
    assert any(play(seed, template).wrong for seed in range(SEEDS))


class Worlds(RuleBasedStateMachine):
    """What a scheduler could do, in whatever order Hypothesis likes; the model is that of the world."""

    template: Path

    def __init__(self) -> None:
        super().__init__()
        self._folder = tempfile.TemporaryDirectory()
        self.world = World(1, Path(self._folder.name), self.template, faults=0.0)

    @rule(act=st.sampled_from(sorted(set(World.ACTS), key=lambda act: act.__name__)))
    @precondition(lambda self: len(self.world.strands) < 4)
    def begin(self, act: object) -> None:
        self.world.begin(act)  # type: ignore[arg-type]

    @rule(place=st.integers(0, 3), fate=st.sampled_from([GO, GO, GO, FAIL, KILL]))
    @precondition(lambda self: self.world.strands)
    def go_on(self, place: int, fate: str) -> None:
        strand: Strand = self.world.strands[place % len(self.world.strands)]
        self.world.go_on(strand, fate)

    @rule(seconds=st.sampled_from([1.0, 61.0, 400.0, 3700.0, -30.0]))
    def pass_time(self, seconds: float) -> None:
        self.world.clock += seconds

    @invariant()
    def numbers_have_no_gap(self) -> None:
        stream = find_stream(self.world.tenant(), "loans")
        assert 0 <= stream.sealed <= stream.seq
        assert stream.seq >= len(self.world.acknowledged)

    def teardown(self) -> None:
        try:
            self.world.finish()
            assert self.world.wrong() == []
        finally:
            self.world.close()
            self._folder.cleanup()


def test_worlds_that_hypothesis_makes_up(template: Path) -> None:
    Worlds.template = template
    run_state_machine_as_test(
        Worlds,
        settings=settings(
            max_examples=20,
            stateful_step_count=25,
            deadline=None,
            derandomize=True,
            suppress_health_check=list(HealthCheck),
        ),
    )
