"""Keywords that are fields of plans: a call that takes them gets its signature and documentation from the fields."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from textwrap import fill, indent
from typing import TYPE_CHECKING, Any, TypeVar

from fairtest.data.source import DataSource
from fairtest.data.source_options import SourceOptions
from fairtest.exceptions import InputError, argument, the
from fairtest.investigations.discovery import Discovery
from fairtest.investigations.error_profiling import ErrorProfiling
from fairtest.investigations.testing import Testing
from fairtest.model.plans import Plan, TestingOptions, TrainingOptions, check_options

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from fairtest.investigations.base import Investigation, Metrics
    from fairtest.types import Level

Function = TypeVar("Function", bound="Callable[..., Any]")


class AuditOptions(SourceOptions, TrainingOptions, TestingOptions, total=False):
    """Keywords of :func:`fairtest.audit`, for type checkers: those of its stages, and of the investigations."""

    max_depth: int
    min_size: int
    ground_truth: str | None
    error: str | Callable[[Any, Any], Any] | None
    notion: str | None
    threshold: float | None
    top_k: int | None
    separator: str | None
    min_people: int | None
    contextual: Sequence[str] | None
    explanatory: str | Sequence[str] | None
    metrics: Metrics
    exclude: str | Sequence[str] | None
    event: Level | None
    adverse: bool | None


def takes_options(*owners: type) -> Callable[[Function], Function]:
    """Say of a function that its ``**options`` are those of plans, or of other classes.

    What plans say of their fields takes the place of ``{options}`` in its documentation.
    """

    def give(function: Function) -> Function:
        signature = inspect.signature(function)
        parameters = {name: p for name, p in signature.parameters.items() if p.kind is not p.VAR_KEYWORD}
        for owner in owners:
            for name, parameter in inspect.signature(owner).parameters.items():
                if name != "source":  # a call makes its own
                    default = None if parameter.default is parameter.empty else parameter.default
                    parameters.setdefault(name, parameter.replace(kind=parameter.KEYWORD_ONLY, default=default))
        # a signature that says what is taken serves help(), notebooks and the documentation
        vars(function)["__signature__"] = signature.replace(parameters=list(parameters.values()))
        words = [_document_fields(owner) for owner in owners if issubclass(owner, Plan)]
        function.__doc__ = inspect.cleandoc(function.__doc__ or "").replace("{options}", "\n".join(words))
        return function

    return give


def _document_fields(plan: type[Plan]) -> str:
    """Return what a plan says of its fields, as the documentation of parameters."""
    return "\n".join(f"{option.name}\n{indent(fill(option.details, 100), '    ')}" for option in plan.options())


def divide_options(call: str, given: Mapping[str, Any], *owners: tuple[type, ...]) -> list[dict[str, Any]]:
    """Return the options divided by who takes them, or say that nobody takes one."""
    taken = [{name for owner in each for name in inspect.signature(owner).parameters} for each in owners]
    check_options(call, given, sorted(set[str]().union(*taken)))
    return [{name: value for name, value in given.items() if name in names} for names in taken]


def favourable_of_output(options: AuditOptions, output: str) -> AuditOptions:
    """Return options in which a favourable value that has no column is that of the output."""
    favourable: Any = options.get("favourable")
    if favourable is None or isinstance(favourable, Mapping):
        return options
    return {**options, "favourable": {output: favourable}}


def choose_investigation(output: str | Sequence[str], question: Mapping[str, Any]) -> Callable[..., Investigation]:
    """Return which investigation somebody means who names an output and asks ``question`` of it."""
    truth = "ground_truth" in question
    if not truth and ("error" in question or "notion" in question):
        raise InputError(
            f"{argument('error')} and {argument('notion')} are about predictions: name the {argument('ground_truth')} "
            "too."
        )
    labels = not isinstance(output, str) or any(name in question for name in ("top_k", "separator", "min_people"))
    if truth and labels:
        raise InputError(
            f"{the('ground_truth', article='A')} is that of one prediction, not of labels. Take it out, or name one "
            "output."
        )
    if labels:
        return Discovery
    return ErrorProfiling if truth else Testing


def as_source(data: Any, options: Mapping[str, Any], preset: str | None) -> DataSource:
    """Return the source of what somebody calls the data; one that is made already is taken as it is."""
    if not isinstance(data, DataSource):
        return DataSource(data, preset=preset, **options)
    if options:
        raise InputError(f"{', '.join(options)}: give these to the DataSource, which is already made.")
    return data
