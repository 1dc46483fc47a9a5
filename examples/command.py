"""What the scripts share: their options, where data is, how long training and testing take, and numbers in words."""

from __future__ import annotations

import argparse
import os
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import process_time
from typing import TYPE_CHECKING, Protocol

from fairtest.numbers import fixed, p_statement

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    import fairtest as ft

BESIDE = Path(__file__).resolve().parents[2] / "shared" / "data"
"""Where data is looked for if no folder is named."""


# Scripts are run again and again on the same people, and should print the same each time: nothing is noted of them.
os.environ.setdefault("FAIRTEST_REGISTRY", "off")


class MissingDataError(Exception):
    """A script needs data that is not part of the project, and is not there."""


@dataclass(frozen=True)
class Sources:
    """The folders that the user names: with files of the paper's workloads, and with MovieLens."""

    data: Path | None = None
    movies: Path | None = None

    def file(self, name: str) -> Path:
        """Return a file of the data folder."""
        if self.data is not None and (self.data / name).is_file():
            return self.data / name
        where = (
            "no folder was named" if self.data is None else f"it is not in {self.data.name}"
        )
        raise MissingDataError(
            f"{name} is needed, and {where}: name a folder that has it, with --data (make DATA=…)"
        )

    def has(self, name: str) -> bool:
        """Whether the data folder has a file."""
        return self.data is not None and (self.data / name).is_file()


def default_sources() -> Sources:
    """Return the folders of the environment (FAIRTEST_DATA, FAIRTEST_MOVIES), or data that is beside the project."""
    data, movies = os.environ.get("FAIRTEST_DATA"), os.environ.get("FAIRTEST_MOVIES")
    folder = Path(data) if data else BESIDE
    return Sources(folder if folder.is_dir() else None, Path(movies) if movies else None)


class Clock:
    """CPU seconds of this process, of training and of testing apart."""

    def __init__(self) -> None:
        self.seconds = {"training": 0.0, "testing": 0.0}

    @contextmanager
    def training(self) -> Iterator[None]:
        """Count what is inside as training."""
        with self._count("training"):
            yield

    @contextmanager
    def testing(self) -> Iterator[None]:
        """Count what is inside as testing."""
        with self._count("testing"):
            yield

    def divided(self, runs: int) -> Clock:
        """Return the seconds of one of several runs, on average."""
        one = Clock()
        one.seconds = {stage: seconds / runs for stage, seconds in self.seconds.items()}
        return one

    @contextmanager
    def _count(self, stage: str) -> Iterator[None]:
        start = process_time()
        yield
        self.seconds[stage] += process_time() - start


class Story(Protocol):
    """What a script found: its reports by name, and how long they took."""

    @property
    def reports(self) -> Mapping[str, ft.Report]:
        """The reports, in the order in which they were asked for."""

    @property
    def clock(self) -> Clock:
        """The seconds of training and testing."""


def main(
    run: Callable[[Sources], Story], tell: Callable[..., Iterable[str]], about: str | None
) -> None:
    """Run a script from the command line: print what it tells, and write its reports as HTML if asked."""
    parser = argparse.ArgumentParser(description=(about or "").partition("\n")[0])
    given = default_sources()
    parser.add_argument(
        "--data",
        type=Path,
        default=given.data,
        help="a folder with the data of the workloads",
    )
    parser.add_argument(
        "--movies",
        type=Path,
        default=given.movies,
        help="a folder with MovieLens, 100K or 1M",
    )
    parser.add_argument(
        "--out", type=Path, help="write the reports as HTML into this folder"
    )
    options = parser.parse_args()
    try:
        story = run(Sources(options.data, options.movies))
    except MissingDataError as error:
        sys.exit(str(error))
    print("\n".join(tell(story)))
    if options.out is not None:
        options.out.mkdir(parents=True, exist_ok=True)
        for number, (name, report) in enumerate(story.reports.items(), start=1):
            report.to_html(options.out / f"{number}-{name}.html")


def title(text: str) -> str:
    """Return a line of a title, with a line below it."""
    return f"{text}\n{'-' * len(text)}"


def bounds(interval: tuple[float, float] | None, decimals: int = 4) -> str:
    """Return an interval in brackets, as the paper writes it."""
    return (
        "[ , ]"
        if interval is None
        else f"[{fixed(interval[0], decimals)}, {fixed(interval[1], decimals)}]"
    )


def measured(finding: ft.Finding, decimals: int = 4) -> str:
    """Return metric, effect, interval, p-value and people of a finding."""
    if finding.effect is None:
        return f"{finding.metric} undefined, {finding.size:,} people"
    effect = f"{finding.metric} {fixed(finding.effect, decimals)} {bounds(finding.interval, decimals)}"
    return f"{effect}, {p_statement(finding.p_value, 'p')}, {finding.size:,} people"


def counts(report: ft.Report) -> str:
    """Return how many contexts were looked at, tested, significant and reported."""
    contexts = "context" if report.looked_at == 1 else "contexts"
    return (
        f"{report.looked_at:,} {contexts} looked at, {report.discovered:,} discovered (tested), "
        f"{report.validated:,} validated, {report.reported:,} reported"
    )


def shown(report: ft.Report) -> list[ft.Finding]:
    """Return what a report shows: populations that are significant, and findings."""
    findings: Sequence[ft.Finding] = [
        f for f in report.populations if f.significant and not f.label
    ]
    return [*findings, *report.findings]
