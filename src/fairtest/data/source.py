"""DataSource: the people under audit, divided beforehand into a training set and test sets."""

from __future__ import annotations

import warnings
from copy import copy
from dataclasses import replace
from functools import cached_property
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeVar, Unpack

from fairtest.data.cluster import connect, is_cluster
from fairtest.data.columns.declared import KindOptions
from fairtest.data.design import read_design, repeat_rows
from fairtest.data.fingerprint import fingerprint
from fairtest.data.holdout import Budget, Holdout, PeopleHoldout
from fairtest.data.reading.files import path_of
from fairtest.data.reading.readers import read_table
from fairtest.data.registry import audits_of, is_warning_left_to_caller, known_size, was_shown
from fairtest.data.reuse import ReusedSet
from fairtest.data.sizes import as_bytes
from fairtest.data.streaming.streaming import can_stream, is_large, stream_table
from fairtest.data.words import Words
from fairtest.exceptions import FairTestWarning, InputError, setting, the
from fairtest.model.plans import check_preset, check_whole
from fairtest.progress import as_stage_progress, progress_of_stage

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from fairtest.data.table import Table
    from fairtest.types import Level

T = TypeVar("T")

TRAIN_SIZE = 0.3
FEWEST = 2
"""The fewest people a training or test set may have."""
AUTO = "auto"
ENGINES = ("memory", "disk")
MEMORY = "1 GB"


class DataSource:
    """A table of people with a budget of test sets.

    Step 1 of the method: the data is split by row into a training set, which the search for contexts may look at
    freely, and ``budget`` test sets, each of which answers one batch of investigations. With several test sets each
    is tested at the level (1 − conf)/budget, so that all answers hold together with confidence ``conf``.

    Parameters
    ----------
    data
        A pandas or polars frame, an Arrow table, or the path of a CSV or Parquet file (compressed too) or of a folder
        of Parquet files. One row is one person, unless ``person``, ``weights`` or ``counts`` says otherwise.
    budget
        The number of test sets: how many batches of investigations will ever be asked of this data.
    conf
        The confidence with which everything reported from all test sets holds together.
    train_size
        The share of the people used for the search; the rest is divided evenly among the test sets. Default: three
        tenths; in the paper's preset, all sets are equally large.
    seed
        Fixes the split and all other randomness: the same seed gives the same report.
    split
        False uses everybody for one question: no training set, a budget of 1, and contexts that are fixed beforehand by
        the columns (every conjunction of a few predicates, at most some thousand).
    reuse
        True keeps one test set for all questions: ``budget`` of them, each of which may be made from the answers to
        those before. A report then shows the numbers of the training set, and the test set only confirms them or does
        not; see :mod:`fairtest.data.reuse` for what that makes true, and at what price.
    categorical, numeric, ordered
        The kinds of columns where the guess is wrong; ``ordered`` maps a column to its values from low to high.
    favourable, reference
        Which output value and which group effects are about: ``favourable={"income": ">50K"}``,
        ``reference={"sex": "Male"}``.
    labels, people, outcome
        Words for reports: what groups are called, ``labels={"sex": {"Female": "women"}}``, or a column,
        ``labels={"hours_per_week": "weekly hours"}`` (where both are named, the column goes by the value ``""``); what
        the rows are, ``people="applicants"``; what happens to those with the favourable output,
        ``outcome="are accepted"``, or ``outcome={"accepted": "are accepted"}``.
    person
        The column that says whose a row is, where people have several: a log of decisions, stays in a hospital. All
        rows of a person are in one set, sizes count people, and tests and intervals hold whatever the rows of a person
        have to do with each other. Also for rows that come in blocks: the same day, the same store.
    weights
        The column of survey weights, where a row stands for more people than another: rates, effects and the search are
        weighted, and the uncertainty is that of a sample drawn so.
    counts
        The column that says for how many identical people a row stands, in a table of counts.
    engine
        Where the people are while they are counted: in ``"memory"``, or on ``"disk"``, for a CSV or Parquet file, or a
        folder of Parquet files, that is larger than memory. The report is the same. The columns are kept in scratch
        files, in the folder that the environment variable ``TMPDIR`` names, and removed with the source. The default,
        ``"auto"``, leaves files on disk from 500 MB on (200 MB if they are compressed, as Parquet is). Or on a Dask
        cluster, given as a ``distributed.Client`` or as the address of its scheduler (``"tcp://host:8786"``): it needs
        ``fairtest[dask]``, in the same version on all workers, which read Parquet files at the path given here.
    memory
        With ``engine="disk"``, about how much memory to use, such as ``"500 MB"`` or a number of bytes; on a cluster,
        in this process and in each worker. Default: ``"1 GB"``.
    missing, delimiter, encoding, decimal
        For CSV files: other texts that mean a missing value, the delimiter, the encoding, and whether decimals follow a
        point or a comma (by default commas are understood where semicolons separate the fields).
    name
        What to call the data in reports. Default: the name of the file.
    preset
        ``"paper"`` for the shares of the paper.
    progress
        Called while a large file is read, with a text and the share that is done.

    Examples
    --------
    >>> source = DataSource({"sex": ["f", "m"] * 50, "hired": [0, 1, 1, 1] * 25}, budget=2, conf=0.95)
    >>> source
    DataSource('data': 100 people; 30 train, 2 test sets of 35; 2 left)
    """

    def __init__(
        self,
        data: Any,
        budget: int = 1,
        conf: float = 0.95,
        train_size: float | None = None,
        seed: int = 0,
        *,
        split: bool = True,
        reuse: bool = False,
        categorical: Sequence[str] = (),
        numeric: Sequence[str] = (),
        ordered: Mapping[str, Sequence[Level]] | None = None,
        favourable: Mapping[str, Level] | None = None,
        reference: Mapping[str, Level] | None = None,
        labels: Mapping[str, str | Mapping[Any, str]] | None = None,
        people: str | None = None,
        outcome: str | Mapping[str, str] | None = None,
        person: str | None = None,
        weights: str | None = None,
        counts: str | None = None,
        engine: Any = AUTO,
        memory: str | int | None = None,
        missing: Sequence[str] = (),
        delimiter: str | None = None,
        encoding: str | None = None,
        decimal: str | None = None,
        name: str | None = None,
        preset: str | None = None,
        progress: Callable[..., None] | None = None,
    ) -> None:
        check_preset(preset)
        self._attached: dict[Callable[[DataSource], Any], Any] = {}
        self._lock = Lock()
        size = check_whole("budget", budget, "DataSource", meaning="the number of test sets")
        self.conf = _inside("conf", conf)
        self.split, self.reuse = bool(split), bool(reuse)
        self.budget = self._make_budget(size, person, weights)
        self.train_size = self._share(train_size, preset)
        self.seed = check_whole("seed", seed, "DataSource", least=0, meaning="it settles who is in which set")
        self.cluster = connect(engine) if is_cluster(engine) else None
        self.engine, self.memory = _engine(choose_engine(data, memory, counts) if engine == AUTO else engine, memory)
        numbers = [name for name in (weights, counts) if name is not None and name not in numeric]
        kinds = KindOptions(categorical=categorical, numeric=[*numeric, *numbers], ordered=ordered)
        text: dict[str, Any] = {"delimiter": delimiter, "encoding": encoding, "decimal": decimal}
        self.table = self._read_table(data, progress, missing=missing, name=name, **text, **kinds)
        self.person, self.weights, self.counts = person, weights, counts
        if counts is not None:
            self._repeat_people(counts)
        self.design, first = read_design(self.table, person, weights)
        self.favourable = self._check_declared("favourable", favourable)
        self.reference = self._check_declared("reference", reference)
        self.words = Words.of(self.table, labels, people, outcome)
        self.holdout = self._divide_people(first)
        if not is_warning_left_to_caller() and known_size(self.table.n_rows):
            warn_if_known(self.fingerprint)
            if was_shown(self.fingerprint):
                self.budget.mark_shown()

    def _make_budget(self, size: int, person: str | None, weights: str | None) -> Budget:
        if not self.reuse:
            return Budget(size)
        _check_reuse(size, split=self.split)
        check_one_row_a_person("reuse=True", person, weights, "a budget of several test sets")
        return ReusedSet(size, round(1 - self.conf, 15))

    def _read_table(self, data: Any, progress: Callable[..., None] | None, **how: Any) -> Table:
        """Return the columns, in memory or described where they are."""
        if self.engine == "disk" or (self.engine == "dask" and can_stream(data)):
            store = self.engine == "disk"  # other machines see the files, not what is stored here
            done = progress_of_stage(as_stage_progress(progress), f"reading {path_of(data)} in blocks")
            return stream_table(data, memory=self.memory, store=store, progress=done, **how)
        return read_table(data, **how)

    def _divide_people(self, first: NDArray[np.intp] | None) -> Holdout:
        """Return who is in which set; ``first`` says where the person of each row is first met; None: one row each."""
        divided: Holdout
        if not self.split:
            divided = Holdout.undivided(self.table.n_rows, self.n_people)
        elif first is None:
            divided = Holdout(self.table.n_rows, self._sets, self.train_size, self.seed)
        else:
            divided = PeopleHoldout(first, self._sets, self.train_size, self.seed)
        if min(divided.sizes) < FEWEST:
            raise InputError(
                f"There are too few people: {self.n_people:,} divided by {setting('budget', self._sets)} and "
                f"{setting('train_size', float(f'{self.train_size:g}'))} leave a set of {min(divided.sizes)}. "
                f"Every set needs at least {FEWEST}."
            )
        return divided

    @classmethod
    def divided(cls, train: Any, test: Any, level: float = 0.05, seed: int = 0, **options: Any) -> DataSource:
        """Return a source whose training set and whose only test set are given, such as people who came in time.

        Parameters
        ----------
        train, test
            Two frames with the same columns. Nobody may be in both.
        level
            The level at which the test set is tested: what was spent on earlier sets is the caller's to count.
        **options
            As for a source: kinds of columns, ``favourable``, ``reference``, words, ``name``.

        Examples
        --------
        >>> earlier, later = {"sex": ["f", "m"] * 30}, {"sex": ["m", "f"] * 20}
        >>> DataSource.divided(earlier, later, level=0.01)
        DataSource('data': 100 people; 60 train, 1 test set of 40; 1 left)
        """
        import polars as pl

        named = options.get("person"), options.get("weights")
        check_one_row_a_person("DataSource.divided", *named, "one row for each person, such as the first")
        first, second = pl.DataFrame(train), pl.DataFrame(test)
        if first.columns != second.columns:
            raise InputError(
                f"The training set and the test set must have the same columns. The first has {first.columns}, the "
                f"second {second.columns}."
            )
        if min(first.height, second.height) < FEWEST:
            raise InputError(
                f"Every set needs at least {FEWEST} people. There are {first.height:,} to train and {second.height:,} "
                "to test."
            )
        people = pl.concat([first, second], how="vertical_relaxed")
        source = cls(people, 1, 1 - _inside("level", level), first.height / people.height, seed, **options)
        source.holdout = Holdout.contiguous(first.height, second.height)
        source.budget.mark_shown()  # what was seen of the first may have made the question: only the second tests it
        return source

    @property
    def n_people(self) -> int:
        """How many people there are: as many as rows, unless people have several."""
        return self.table.n_rows if self.design is None else self.design.n_people

    @property
    def effective_share(self) -> float:
        """As how many independent people with equal weights a person counts, at the least, while contexts are found."""
        return 1.0 if self.design is None else self.design.effective_share

    @property
    def not_attributes(self) -> dict[str, str]:
        """The columns that say what rows are, by what they say: never attributes of people."""
        said = {self.person: "person", self.weights: "weights", self.counts: "counts"}
        return {column: role for column, role in said.items() if column is not None}

    def _repeat_people(self, counts: str) -> None:
        """Have each row as often as it counts people."""
        if self.engine != "memory":
            raise InputError(
                f"{setting('counts', counts)} goes with {setting('engine', 'memory')}: a table of counts is small. "
                "Leave the other engine out."
            )
        self.table = self.table.repeat(repeat_rows(self.table, counts))

    @property
    def level(self) -> float:
        """The level at which each test set, or the next question to a reusable one, is tested."""
        return self.budget.level if isinstance(self.budget, ReusedSet) else self.budget.level_of_set(self.conf)

    def with_columns(self, data: Any, **kinds: Unpack[KindOptions]) -> DataSource:
        """Return a source of the same people with more columns, such as a score: the same split, the same budget.

        Parameters
        ----------
        data
            The new columns, as a frame or a dictionary, with one row for each person in the order of the source.
        categorical, numeric, ordered
            Their kinds, as for the source.

        Examples
        --------
        >>> source = DataSource({"sex": ["f", "m"] * 50, "hired": [0, 1, 1, 1] * 25})
        >>> more = source.with_columns({"near": [True, True, False, False] * 25})
        >>> list(more.table.columns), more.budget is source.budget
        (['sex', 'hired', 'near'], True)
        """
        new = read_table(data, **kinds)
        if new.n_rows != self.table.n_rows:
            raise InputError(
                f"The new columns must have a row for each of the {self.table.n_rows:,} people, in the same order. "
                f"Got {new.n_rows:,} rows instead."
            )
        if taken := [name for name in new.columns if name in self.table]:
            raise InputError(f"The source has a column {taken[0]!r} already. Give the new one another name.")
        wider = copy(self)
        wider.__dict__.pop("fingerprint", None)
        wider._attached = {}  # made of fewer columns
        wider.table = replace(self.table, columns={**self.table.columns, **new.columns})
        return wider

    @cached_property
    def fingerprint(self) -> str:
        """A name for these people, whatever the order of the rows, the format and the seed."""
        return fingerprint(self.table)

    def attach(self, make: Callable[[DataSource], T]) -> T:
        """Return what ``make`` makes of this source: once, to live as long as the source does, for all threads.

        Data knows no engine, and the engine that counts these people belongs to them all the same.

        Examples
        --------
        >>> source = DataSource({"sex": ["f", "m"] * 50})
        >>> source.attach(lambda people: people.table.n_rows)
        100
        """
        with self._lock:
            if make not in self._attached:
                self._attached[make] = make(self)
            made: T = self._attached[make]
            return made

    @property
    def _sets(self) -> int:
        """How many test sets there are."""
        return 1 if self.reuse else self.budget.size

    def _share(self, train_size: float | None, preset: str | None) -> float:
        if not self.split:
            _check_undivided(self.budget.size, train_size, preset)
            return 1.0
        if train_size is not None:
            return _inside("train_size", train_size)
        return 1 / (self._sets + 1) if preset == "paper" else TRAIN_SIZE

    def _check_declared(self, argument: str, values: Mapping[str, Level] | None) -> dict[str, Level]:
        """Check that each declared value occurs in its column, and return it as the column has it."""
        found: dict[str, Level] = {}
        for name, value in (values or {}).items():
            column = self.table[name]
            level = column.find_level(value)
            if level is None:
                raise InputError(
                    f"{setting(argument, {name: value})}: the column has no such value; {column.values_in_words}."
                )
            found[name] = level
        return found

    def __repr__(self) -> str:
        train, *tests = self.holdout.sizes
        rows = "" if self.n_people == self.table.n_rows else f" in {self.table.n_rows:,} rows"
        if not self.split:
            return f"DataSource({self.table.name!r}: {train:,} people{rows}, undivided; {self.budget.left} left)"
        if self.reuse:
            return (
                f"DataSource({self.table.name!r}: {self.n_people:,} people; {train:,} train, a reusable test set "
                f"of {tests[0]:,}; {self.budget.left} of {self.budget.size} questions left)"
            )
        sets = f"1 test set of {tests[0]:,}" if len(tests) == 1 else f"{len(tests)} test sets of {tests[-1]:,}"
        return (
            f"DataSource({self.table.name!r}: {self.n_people:,} people{rows}; {train:,} train, {sets}; "
            f"{self.budget.left} left)"
        )


def check_one_row_a_person(what: str, person: str | None, weights: str | None, instead: str) -> None:
    """Raise where something is asked for that rows of several a person, or with weights, do not allow."""
    for name, column in (("person", person), ("weights", weights)):
        if column is not None:
            raise InputError(
                f"{setting(name, column)} does not go with {what}, which takes every row for a person of its own who "
                f"counts as any other. Use {instead} instead."
            )


def warn_if_known(fingerprint: str) -> None:
    """Warn if these people have been audited in a workspace."""
    for audits in audits_of(fingerprint):
        if audits.workspace:
            warnings.warn(
                f"These people have been audited before: {audits}. Looking at them again outside of it makes chance "
                f"findings likelier than 'conf' says; go on there: fairtest.Workspace({audits.folder!r}). "
                "(FAIRTEST_REGISTRY=off turns this off.)",
                FairTestWarning,
                stacklevel=3,
            )


def choose_engine(data: Any, memory: str | int | None = None, counts: str | None = None) -> str:
    """Return where people are counted if the user does not say: on disk if the file is large, or memory is limited."""
    fits = counts is not None or (memory is None and not is_large(data))
    return "memory" if fits or path_of(data) is None else "disk"


def _engine(engine: Any, memory: str | int | None) -> tuple[str, int]:
    """Return the engine and how much memory it may use, in bytes."""
    if is_cluster(engine):
        engine = "dask"
    elif engine not in ENGINES:
        raise InputError(
            f"{the('engine', 'of DataSource')} must be {', '.join(map(repr, (AUTO, *ENGINES)))}, a Dask client "
            f"(distributed.Client) or the address of a scheduler ('tcp://host:8786'). Got {engine!r} instead."
        )
    if engine == "memory" and memory is not None:
        raise InputError(
            f"{setting('memory', memory)} goes with {setting('engine', 'disk')}: {setting('engine', 'memory')} holds "
            "all of the data. Take one of them out."
        )
    return engine, as_bytes(MEMORY if memory is None else memory)


def _check_reuse(budget: int, *, split: bool) -> None:
    """Raise for what cannot go with a test set that is used again."""
    if not split:
        raise InputError(
            "reuse=True answers with the numbers of a training set, and split=False has none. Take out one of the two."
        )
    if budget < 2:
        raise InputError(
            f"reuse=True puts several questions to one test set: say how many with budget=20, say. Got budget={budget}."
        )


def _check_undivided(budget: int, train_size: float | None, preset: str | None) -> None:
    if budget > 1 or train_size is not None or preset is not None:
        raise InputError(
            "split=False uses everybody for one question: it goes with budget=1 and without train_size and preset."
        )


def _inside(argument: str, value: float) -> float:
    if isinstance(value, bool) or not hasattr(value, "__float__") or not 0 < float(value) < 1:
        raise InputError(
            f"{the(argument, 'of DataSource')} must be a number between 0 and 1, both excluded. Got {value!r} instead."
        )
    return float(value)
