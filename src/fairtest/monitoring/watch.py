"""Watch: a monitor for whoever has frames of records coming in."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtest.data.reading.stream import read_times
from fairtest.exceptions import InputError, UsageError, the
from fairtest.investigations.roles import names_of
from fairtest.model.context import Context
from fairtest.monitoring import state as plain
from fairtest.monitoring.capital import check_mode
from fairtest.monitoring.checks import check_columns, check_errors, check_person, check_share, check_slots
from fairtest.monitoring.intake import UNKNOWN_DAY, Intake
from fairtest.monitoring.labels import LabelColumns
from fairtest.monitoring.learning import Learned, Roles, learn, output_names
from fairtest.monitoring.life import Life, Records, Terms
from fairtest.monitoring.outlook import Outlook, Rates, outlook_of, outlooks_of, rates_of
from fairtest.monitoring.people import People
from fairtest.monitoring.search import Memory, search_table, search_windows
from fairtest.monitoring.slots import day_of
from fairtest.monitoring.standing import Standing, standings_of
from fairtest.monitoring.view import follow_over_time, timeline_of, trail_of, view_of
from fairtest.monitoring.words import explain_method

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Callable, Collection, Mapping, Sequence

    from fairtest.monitoring.events import Event
    from fairtest.monitoring.intervals import Measured
    from fairtest.monitoring.stakes import Entry
    from fairtest.monitoring.view import Followed

_SOURCE = ("categorical", "numeric", "ordered", "favourable", "reference")


class Watch:
    """A monitor of a stream of records, which may be looked at at any time.

    Over its whole life, the chance of even one false *new* is at most ``alpha``, however often anyone looks.

    Parameters
    ----------
    protected, output
        One column or several of each; every protected attribute is watched with every output.
    history
        Records from before the monitor began: they settle kinds, groups and thresholds, and are never bet on. Without
        them, the first frame observed is used for that.
    contextual, explanatory, exclude, metrics
        As for :class:`fairtest.Testing`.
    person
        The column that says who a record is about: only the first record of a person is bet on, and none that does not
        say. ``False`` says that nobody comes twice.
    time
        The column with the time at which a record arrived; a record whose truth comes late arrives with its truth.
        Without one, say when in each call: ``observe(frame, at=…)``. Times with a zone count in UTC.
    alpha
        The chance of a false alarm over the life of the monitor; with ``mode="rate"``, the false alarms expected in a
        year.
    mode
        ``"lifetime"`` (default) or ``"rate"``.
    tolerance
        The gap between rates that is no bias: 0.02 is two points.
    follow
        Contexts to follow beside those the columns make: a quarter of the capital is theirs.
    search
        Whether to search for deeper contexts after each day.
    slots
        ``"auto"`` (default), or ``"day"`` where groups and outputs do not follow the hour of the day.
    name, seed
        Settle all randomness.
    journal
        Is called with all that happens to stakes, to be stored: see :func:`fairtest.monitoring.stakes.replay`.
    before
        A watch of the same monitor that this one takes the place of: both together have one capital.
    ground_truth, error, notion
        As for :class:`fairtest.ErrorProfiling`: the errors of a prediction are watched, not the prediction. A record
        arrives with its truth.
    separator
        Where the output is a column of labels as text, what is between two labels: each label is watched as an output.
    categorical, numeric, ordered, favourable, reference
        As for :class:`fairtest.DataSource`.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> def day(date, gap):
    ...     sex = rng.choice(["f", "m"], 400)
    ...     hired = rng.random(400) < 0.4 - gap * (sex == "f")
    ...     hours = np.sort(rng.integers(0, 24, 400)).astype("timedelta64[h]")
    ...     return {"sex": sex, "hired": hired, "at": np.datetime64(date) + hours}
    >>> watch = Watch("sex", "hired", history=day("2026-01-01", 0), person=False, time="at")
    >>> watch.observe(day("2026-01-02", 0.0))
    []
    >>> [event.kind for date in range(3, 9) for event in watch.observe(day(f"2026-01-0{date}", 0.25))]
    ['new', 'worse']
    """

    def __init__(
        self,
        protected: str | Sequence[str | tuple[str, ...]],
        output: str | Sequence[str],
        *,
        history: Any = None,
        contextual: Sequence[str] | None = None,
        explanatory: str | Sequence[str] | None = None,
        exclude: str | Sequence[str] | None = None,
        person: str | bool | None = None,
        time: str | None = None,
        metrics: Any = None,
        alpha: float = 0.05,
        mode: str = "lifetime",
        tolerance: float = 0.0,
        follow: Sequence[Context] = (),
        search: bool = True,
        slots: str = "auto",
        name: str = "monitor",
        seed: int = 0,
        journal: Callable[[Entry], None] | None = None,
        before: Watch | None = None,
        ground_truth: str | None = None,
        error: str | None = None,
        notion: str | None = None,
        separator: str | None = None,
        categorical: Sequence[str] = (),
        numeric: Sequence[str] = (),
        ordered: Mapping[str, Sequence[Any]] | None = None,
        favourable: Mapping[str, Any] | None = None,
        reference: Mapping[str, Any] | None = None,
    ) -> None:
        check_share("alpha", alpha)
        check_share("tolerance", tolerance or 0.5)  # none at all is fine
        self._terms = Terms(name, float(alpha), check_mode(mode), float(tolerance), seed, check_slots(slots))
        if before is not None:
            self._terms = before._life.hand_over(self._terms)
        self._person, self._time = check_person(person), time
        kinds = (categorical, numeric, ordered, favourable, reference)
        self._roles: Roles | None = Roles(
            protected=protected,
            outputs=output_names(output),
            contextual=None if contextual is None else names_of("contextual", contextual),
            explanatory=names_of("explanatory", explanatory),
            exclude=names_of("exclude", exclude),
            aside=tuple(column for column in (self._person, time) if column is not None),
            metrics=metrics,
            tolerance=float(tolerance),
            source={name: given for name, given in zip(_SOURCE, kinds, strict=True) if given},
            errors=check_errors(ground_truth=ground_truth, error=error, notion=notion),
        )
        self._search, self._journal = bool(search), journal
        self._follow, self._separator = list(follow), separator
        self._labels: LabelColumns | None = None
        self._intake: Intake | None = None
        self._living: Life | None = None
        self._rates: Rates | None = None
        self._earlier: Records | None = None
        if history is not None:
            self._learn(history)

    # Records come in

    def observe(self, frame: Any, at: dt.datetime | None = None) -> list[Event]:
        """Take in the next records, and return what they show.

        Parameters
        ----------
        frame
            A pandas or polars frame, an Arrow table or a dictionary of columns.
        at
            When they arrived, where the stream has no ``time`` column.

        Returns
        -------
        list of Event
            *new*, *worse*, *better* and *gone*, in the order in which they were shown. Blocks close when the time of
            the records, or :meth:`advance`, has passed their end.
        """
        if self._intake is None:
            self._learn(frame)
            return []
        records = self._intake.read(self._expand(frame), at)
        if records is None:
            return []
        self._begin(int(records.day[0]))
        return self._life.receive(records)

    def advance(self, at: dt.datetime) -> list[Event]:
        """Let time pass without records: blocks that are over close, days begin."""
        if self._intake is None:
            return []
        day, hour = self._intake.move_clock(at)
        self._begin(day)
        return self._life.go_to(day, hour)

    def follow(self, context: Context) -> None:
        """Follow a context from the next day on, in every pair whose contexts may speak of its columns."""
        if not isinstance(context, Context):
            raise InputError(f"{the('context')} must be a fairtest.Context. Got {type(context).__name__} instead.")
        if self._intake is None:
            self._follow.append(context)
            return
        check_columns(context, self._intake.learned.allowed)
        self._life.follow_listed(context)

    def follow_if_possible(self, context: Context) -> None:
        """Follow a context, unless it speaks of a column that contexts may not speak of here."""
        with suppress(InputError):
            self.follow(context)

    def search(self, frame: Any) -> list[Context]:
        """Search earlier records for contexts, follow the best of them from the next day on, and return these.

        For whoever keeps the records elsewhere: with ``search=True``, a watch does so by itself after each day.
        """
        learned = self._learned
        table, _ = learned.schema.read(self._expand(frame))
        days = 1 if self._time is None else int(np.unique(day_of(read_times(frame, self._time))).size)
        found = search_table(table, days, learned.pairs, learned.allowed, learned.strata)
        return [context for pair, best in enumerate(found) for context in self._life.follow_found(pair, best)]

    # What is known

    def standings(self, most: int | None = 10) -> list[Standing]:
        """Return how hypotheses stand: first those that alarmed, then the largest stakes, echoes last."""
        return standings_of(self._life)[:most]

    def measure(
        self, context: Context | None = None, *, days: int | None = None, pair: int = 0, cell: int = 0
    ) -> Measured | None:
        """Return the gap in a context with an interval that may be read on any day; None where none can be given yet.

        Parameters
        ----------
        context
            One that is followed. Default: everyone.
        days
            Over the last so many days, with an interval that holds together with those of all other windows. Default:
            since the context's eighth day.
        pair, cell
            Which pair and which comparison, where there are several: see :attr:`comparisons`.
        """
        life, trail = self._life, trail_of(self._life, context, pair, cell)
        if days is None:
            return trail.running(life.day, self._terms.alpha)
        return trail.window(life.day - days + 1, life.day, life.start, self._terms.alpha)

    def timeline(
        self, context: Context | None = None, *, days: int | None = None, pair: int = 0, cell: int = 0
    ) -> list[Measured]:
        """Return what :meth:`measure` would have returned after each day, to be drawn; with ``days``, by window."""
        return timeline_of(self._life, trail_of(self._life, context, pair, cell), days)

    @property
    def comparisons(self) -> list[list[str]]:
        """What is compared: for each pair, the name of each of its cells."""
        return [[pair.describe(cell) for cell in pair.cells] for pair in self._learned.pairs]

    def outlook(
        self,
        gap: float = 0.10,
        share: float = 0.05,
        *,
        records_a_day: float | None = None,
        group: float | None = None,
        rate: float | None = None,
    ) -> Outlook:
        """Return how soon a gap in a share of the records would be noticed, if it began on the thirtieth day.

        Parameters
        ----------
        gap, share
            The difference of the rates, and the share of the records that are in the context.
        records_a_day, group, rate
            The records of a day, the share of the compared group among them, and the rate of the output. Default: as
            in the records so far.
        """
        assert self._rates is not None
        return outlook_of(self._life, self._rates, gap, share, records_a_day=records_a_day, group=group, rate=rate)

    def explain(self) -> str:
        """Return how the monitor decides, in plain words."""
        pairs = self._learned.pairs
        protected = list(dict.fromkeys(pair.protected.name for pair in pairs))
        output = list(dict.fromkeys(pair.output.name for pair in pairs))
        return explain_method(protected, output, self._terms.alpha, self._terms.mode, sum(map(len, self._life.books)))

    # What lasts

    def view(self) -> dict[str, Any]:
        """Return what there is to show of the watch, as plain data for JSON: see :mod:`fairtest.monitoring.view`."""
        return {**view_of(self._life), "explain": self.explain(), "outlook": self.outlooks()}

    def outlooks(self, records_a_day: float | None = None) -> list[str]:
        """Return in sentences how soon some gaps would be noticed; none if it is not known how many records come."""
        assert self._rates is not None
        return outlooks_of(self._life, self._rates, records_a_day)

    @property
    def has_begun(self) -> bool:
        """Whether the first day has begun: before it there is nothing to show."""
        return self._living is not None and self._living.day >= 0

    def followed(self, names: Collection[str] = (), contexts: Collection[Context] = ()) -> list[Followed]:
        """Return what is drawn over time: what alarmed or was listed, and these hypotheses and contexts."""
        return follow_over_time(self._life, names, contexts)

    def take_new_people(self) -> list[bytes]:
        """Return each pair's new hashes of people since the last call, for whoever stores them apart from the state."""
        return [people.take_newest() for people in self._known.people]

    def past(self) -> list[dict[str, Any]]:
        """Return sums of days that are over, for whoever stores them apart from the state: a day's end changes them."""
        return plain.past_to_plain(self._life)

    @property
    def past_changes(self) -> int:
        """How often :meth:`past` has changed since the watch was made or restored."""
        return sum(book.past_changes for book in self._life.books)

    def state(self, *, people: bool = True, past: bool = True) -> dict[str, Any]:
        """Return all that must be kept to go on later, as plain data for JSON.

        There are counts of open blocks in it, and hashes of people; for outputs that are numbers, also the values of
        records in open blocks. The records themselves are not.

        Parameters
        ----------
        people
            Whether the hashes of people are in it; they need not be where :meth:`take_new_people` gives them.
        past
            Whether the sums of days that are over are in it; they need not be where :meth:`past` gives them.
        """
        intake, life = self._known, self._life
        assert self._rates is not None
        return {
            "version": plain.VERSION,
            "learned": plain.learned_to_plain(intake.learned),
            "life": plain.life_to_plain(life, past=past),
            "person": intake.person,
            "time": intake.time,
            "people": [each.to_plain() for each in intake.people] if people else [],
            "clock": intake.clock,
            "search": self._search,
            "labels": None if self._labels is None else self._labels.to_plain(),
            "rates": vars(self._rates),
        }

    @classmethod
    def restore(
        cls,
        state: Mapping[str, Any],
        *,
        history: Any = None,
        journal: Callable[[Entry], None] | None = None,
        people: Sequence[bytes] | None = None,
        past: list[dict[str, Any]] | None = None,
    ) -> Watch:
        """Return the watch that a state was taken of.

        Parameters
        ----------
        history
            The records of the last weeks, for the daily search: a state does not hold them.
        people
            The hashes of people for each pair, where they are not in the state.
        past
            What :meth:`past` returned, where it is not in the state.
        """
        plain.check_version(state)
        watch = cls.__new__(cls)
        learned = plain.learned_from_plain(state["learned"])
        stored = [People.from_plain(each) for each in state["people"]]
        known = stored if people is None else [People.from_bytes(each) for each in people]
        watch._intake = Intake(learned, state["person"], state["time"], known, state["clock"])
        watch._person, watch._time, watch._search = state["person"], state["time"], state["search"]
        watch._rates, watch._journal, watch._follow = Rates(**state["rates"]), journal, []
        watch._roles = watch._earlier = watch._separator = None
        watch._labels = LabelColumns(**state["labels"]) if state.get("labels") else None
        life = state["life"] if past is None else plain.join_past(state["life"], past)
        watch._living = plain.life_from_plain(life, learned)
        watch._terms = watch._living.terms
        watch._equip()
        if history is not None:
            watch._intake.recall(watch._expand(history))
        return watch

    # How it is done

    @property
    def _known(self) -> Intake:
        if self._intake is None:
            raise UsageError(
                "The watch knows nothing of the columns yet: observe a first frame, or give history=… when it is made."
            )
        return self._intake

    @property
    def _learned(self) -> Learned:
        return self._known.learned

    @property
    def _life(self) -> Life:
        self._known  # noqa: B018 - raises if there is none
        assert self._living is not None
        return self._living

    def _learn(self, history: Any) -> None:
        assert self._roles is not None
        if self._separator is not None:
            self._labels = LabelColumns.learn(history, self._roles.outputs, self._separator)
            exclude = (*self._roles.exclude, self._labels.name)
            self._roles = replace(self._roles, outputs=self._labels.outputs, exclude=exclude)
            history = self._expand(history)
        learned = learn(history, self._roles)
        self._intake = Intake(learned, self._person, self._time)
        self._living = Life(self._terms, learned.pairs, learned.candidates, learned.schema, learned.allowed)
        self._equip()
        self._earlier = self._intake.read_history(history)
        if self._earlier.day[0] != UNKNOWN_DAY:
            self._living.remember(self._earlier)
        self._rates = rates_of(self._living, self._earlier)
        for context in self._follow:
            self.follow(context)
        self._follow = []

    def _expand(self, frame: Any) -> Any:
        return frame if self._labels is None else self._labels.expand(frame)

    def _equip(self) -> None:
        """Give the life what is no part of its state."""
        intake, life = self._known, self._life
        life.journal = self._journal
        if self._search:
            memory = intake.memory = Memory(intake.learned.schema)
            learned = intake.learned
            life.find = lambda day: search_windows(memory, day, learned.pairs, learned.allowed, learned.strata)

    def _begin(self, day: int) -> None:
        """Count earlier records that have no time as those of the day before the first."""
        earlier, self._earlier = self._earlier, None
        if earlier is not None and self._life.day < 0 and earlier.day[0] == UNKNOWN_DAY:
            self._life.remember(replace(earlier, day=np.full(len(earlier), day - 1)))
