"""The choices a user can make for training and testing, checked at the door."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, cast

from fairtest.data.source import check_preset
from fairtest.exceptions import InputError, UsageError, unknown_name
from fairtest.inference.influence import is_scored
from fairtest.inference.multiplicity.corrections import corrections
from fairtest.investigations.base import Investigation
from fairtest.investigations.discovery import Discovery
from fairtest.reporting.assemble import TrainChoices
from fairtest.search.forest import TREES
from fairtest.types import Kind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairtest.data.source import DataSource
    from fairtest.inference.multiplicity.corrections import Correction
    from fairtest.model.found import Found
    from fairtest.search.scoring import Aggregate, Estimate

SEARCHES = ("auto", "tree", "forest", "exhaustive")
SCORES = ("bound", "point")
AGGREGATES = ("max", "avg", "weighted")


@dataclass(frozen=True)
class Training:
    """What training found: the contexts of each question."""

    choices: TrainChoices
    found: tuple[Found, ...]


def as_batch(investigations: Investigation | Sequence[Investigation]) -> list[Investigation]:
    """Return the investigations as a list, all on the same source."""
    batch = [investigations] if isinstance(investigations, Investigation) else list(investigations or ())
    if not batch:
        raise InputError("There is no investigation. Give at least one: train([Testing(source, ...)]).")
    for each in batch:
        if not isinstance(each, Investigation):
            raise InputError(
                f"Investigations must be Testing, ErrorProfiling, … objects. Got {type(each).__name__} instead."
            )
        if each.source is not batch[0].source:
            raise InputError("Investigations of one batch must have the same DataSource: they share its test set.")
    return batch


def title_in(batch: Sequence[Investigation], investigation: Investigation) -> str:
    """Return how an error says which investigation of a batch it is about; nothing where there is only one."""
    if len(batch) == 1:
        return ""
    place = next(i for i, each in enumerate(batch, start=1) if each is investigation)
    return f"Investigation {place} of {len(batch)} ({investigation.title})"


def check_trained_together(batch: Sequence[Investigation]) -> None:
    """Raise if a context of one investigation speaks of the output of another."""
    for each in batch:
        others = frozenset[str]().union(*(o.outputs for o in batch if o is not each))
        for found in each.require_training("test").found:
            for context in found.contexts:
                if shared := context.columns & others:
                    raise UsageError(
                        f"The contexts of one investigation speak of {', '.join(sorted(shared))}, the output of "
                        "another. What is tested together must be trained together: train([a, b]), then test([a, b])."
                    )


def check_tolerance(tolerance: float | None) -> None:
    """Raise unless the tolerance is a size an effect can have."""
    if tolerance is not None and (isinstance(tolerance, bool) or not 0 < float(tolerance) < 1):
        raise InputError(
            "The 'tolerance' must be a number between 0 and 1, such as 0.05 for five points. "
            f"Got {tolerance!r} instead."
        )


def train_choices(
    max_depth: int,
    min_size: int,
    search: str | None,
    score: str | None,
    aggregate: str | None,
    preset: str | None,
    trees: int | None = None,
    attributes_per_node: int | None = None,
) -> TrainChoices:
    """Check the arguments of train and fill in the defaults."""
    check_preset(preset)
    paper = preset == "paper"
    search = one_of("search", search or ("tree" if paper else "auto"), SEARCHES)
    given = {"max_depth": max_depth, "min_size": min_size}
    of_a_forest = {"trees": trees, "attributes_per_node": attributes_per_node}
    for argument, value in {**given, **{k: v for k, v in of_a_forest.items() if v is not None}}.items():
        if argument in of_a_forest and search != "forest":
            raise InputError(f"The {argument!r} of train are those of a forest. Add search='forest', or take it out.")
        if isinstance(value, bool) or not hasattr(value, "__index__") or value < 1:
            raise InputError(f"The {argument!r} of train must be a whole number of at least 1. Got {value!r} instead.")
    score = one_of("score", score or ("point" if paper else "bound"), SCORES)
    aggregate = one_of("aggregate", aggregate or ("avg" if paper else "max"), AGGREGATES)
    return TrainChoices(
        int(max_depth),
        int(min_size),
        search,
        cast("Estimate", score),
        cast("Aggregate", aggregate),
        preset,
        int(trees or TREES) if search == "forest" else None,
        None if attributes_per_node is None else int(attributes_per_node),
    )


def one_of(argument: str, value: str, allowed: Sequence[str]) -> str:
    """Return a value that must be among those allowed."""
    if value not in allowed:
        raise InputError(f"The {argument!r} must be one of {', '.join(map(repr, allowed))}. Got {value!r} instead.")
    return value


def min_people(source: DataSource, choices: TrainChoices) -> float:
    """Return the fewest people of the training set a context may have, if there are enough for two contexts."""
    train, table = source.holdout.sizes[0], source.table.n_rows
    paper = choices.preset == "paper"
    have, where = (train, "the training set") if paper else (table, "the data")
    if have < 2 * choices.min_size:
        raise InputError(
            f"There are too few people: {where} has {have:,}, and two contexts of min_size={choices.min_size:,} need "
            f"{2 * choices.min_size:,}. Lower min_size (to at most {have // 2:,}), or bring more data."
        )
    return choices.min_size if paper else choices.min_size * source.train_size


def search_notes(training: Training) -> tuple[str, ...]:
    """Return what the searches have to say about what they did not look at, each thing once."""
    return tuple(dict.fromkeys(note for found in training.found for note in found.notes))


def undivided(choices: TrainChoices, search: str | None) -> TrainChoices:
    """Return the choices for a source that is not split: the contexts are fixed beforehand."""
    if search not in (None, "auto", "exhaustive") or choices.preset is not None:
        raise InputError("split=False fixes the contexts beforehand: it goes with search='exhaustive' and no preset.")
    return replace(choices, search="exhaustive")


def chosen_correction(name: str | None, preset: str | None = None, *, split: bool = True) -> Correction:
    """Return the correction of a name; by default the pooled one, in the paper's preset and without split Holm's."""
    if name is not None and name not in corrections:
        raise unknown_name("correction", name, corrections)
    chosen = corrections[name or ("holm" if preset == "paper" or not split else "pooled")]
    if chosen.weighted and not split:
        plain = ", ".join(repr(k) for k, c in corrections.items() if not c.weighted)
        raise InputError(
            f"The correction {chosen.name!r} weights hypotheses by a training set, and split=False has none. "
            f"Use one of {plain}."
        )
    return chosen


def check_joint(batch: Sequence[Investigation], correction: Correction) -> None:
    """Raise where the correction needs to know how hypotheses depend on each other and nobody does."""
    if correction.joint and any(isinstance(each, Discovery) for each in batch):
        raise InputError(
            f"The correction {correction.name!r} draws all hypotheses together, which is not offered for the many "
            "labels of a Discovery. Use 'pooled' or 'holm'."
        )


def counted_in_full(investigation: Investigation, correction: str) -> tuple[str, ...]:
    """Return a word about metrics of whose hypotheses nobody knows how they depend on others."""
    own = dict.fromkeys(
        q.metric.name for q in investigation.questions if not is_scored(q.metric.name, q.strata is not None)
    )
    if not corrections[correction].joint or not own:
        return ()
    return (
        "How hypotheses depend on each other is known for the built-in metrics only, and not well enough for NMI given "
        f"explanatory attributes: those of {', '.join(own)} were counted in full, as in Holm's procedure.",
    )


def unused_choices(investigation: Investigation) -> tuple[str, ...]:
    """Return a word about what the user chose of the columns asked about, and what has no effect there."""
    source, notes = investigation.source, []
    for question in investigation.questions:
        name, metric = question.protected.name, question.metric.name
        if name in source.reference and question.protected.kind is not Kind.BINARY:
            notes.append(
                f"The reference group {name} = {source.reference[name]} has no effect: {name} has "
                f"{len(question.protected.levels)} groups, and {metric} compares all of them."
            )
    output = investigation.output
    if output.name in source.favourable and output.kind is not Kind.BINARY:
        notes.append(
            f"The favourable value {output.name} = {source.favourable[output.name]} has no effect: {output.name} has "
            f"{len(output.levels)} values, and all of them are compared."
        )
    words = source.words.outcome_of(output.name)
    if words is not None and not (investigation.kind == "testing" and output.kind is Kind.BINARY):
        notes.append(f"The outcome “{words}” is not told: it is for the favourable one of two values of an output.")
    return tuple(notes)
