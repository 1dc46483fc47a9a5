"""One run in a process of its own: ``python -m fairtest.service.work.audit``, so that its memory goes back.

It reads the people, searches, tests, and writes what it found to its standard output; nobody else sees it. Whether it
counts is decided by the worker that started it, in the transaction that spends.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import warnings
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from fairtest.data.holdout import series_weight
from fairtest.data.source import DataSource
from fairtest.investigations.discovery import Discovery
from fairtest.investigations.error_profiling import ErrorProfiling
from fairtest.investigations.testing import Testing
from fairtest.pipeline.periodic import put_under_budget, run_question
from fairtest.service.operate.starting import from_text
from fairtest.service.service import Service
from fairtest.service.store.findings import fingerprint as fingerprint_of
from fairtest.service.store.findings import followed_contexts
from fairtest.service.store.monitors import load_monitor
from fairtest.service.store.runs import Measured, spent_sets
from fairtest.service.store.streams import load_stream
from fairtest.service.work.errors import describe_error
from fairtest.service.work.memory import limit_memory
from fairtest.service.work.people import SLOT, choose_people, with_slots
from fairtest.service.work.question import choose_given, protected_of, seen_columns
from fairtest.workspace.budget import pack_report
from fairtest.workspace.codec import pack

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairtest.investigations.base import Investigation
    from fairtest.model.results import Results
    from fairtest.service.settings import Settings
    from fairtest.service.store.monitors import Monitor
    from fairtest.service.work.people import Chosen
    from fairtest.workspace.ledger import StoredReport

KINDS: dict[str, type[Investigation]] = {
    "testing": Testing, "discovery": Discovery, "error_profiling": ErrorProfiling,
}  # fmt: skip
ROLES = ("contextual", "explanatory", "exclude", "metrics", "ground_truth", "error", "notion", "top_k", "separator")
DECLARED = ("categorical", "numeric", "ordered", "favourable", "reference", "labels", "people", "outcome")
TRAINING, TESTING = ("max_depth", "min_size"), ("tolerance", "correction")
YEAR = 365.0 * 86400.0


def audit(
    service: Service, project: str, monitor_id: str, version: int, explain_by: list[str] | None = None
) -> dict[str, Any]:
    """Return what the next run of a monitor answers, or how many people are missing for it.

    Parameters
    ----------
    explain_by
        Attributes that may explain what was found: people are compared who have the same.
    """
    with service.database.reading() as connection:
        now = service.database.now(connection)
        monitor = load_monitor(connection, project, monitor_id, version)
        sample = load_stream(connection, project, monitor.stream).sample
        rate = monitor.question["error_rate"]
        started = monitor.created + YEAR * int((now - monitor.created) // YEAR) if rate["over"] == "year" else 0.0
        spent_in_period = spent_sets(connection, project, monitor.id, started)[0]
    chosen = choose_people(service, monitor, now)
    weight = series_weight(spent_in_period + 1)
    level = rate["level"] * weight
    left = 1 - sum(series_weight(k + 1) for k in range(spent_in_period + 1))
    detail = {
        "set": chosen.before + 1, "weight": weight, "level": level, "over": rate["over"], "left": rate["level"] * left,
        "train": chosen.train.height, "test": chosen.test.height, "waiting_for_truth": chosen.waiting,
        "without_truth": chosen.overdue, "sample": sample, "to_go": chosen.to_go, "explain_by": explain_by or [],
    }  # fmt: skip
    if chosen.to_go:
        return {"skipped": True, "detail": detail}
    reports, measures = _answer(service, monitor, chosen, level, detail)
    return {
        "skipped": False, "detail": detail, "lo": chosen.lo, "hi": chosen.hi, "before": chosen.before, "level": level,
        "people": chosen.test.height, "hashes": chosen.hashes.hex(), "reports": reports,
        "measures": [asdict(each) for each in measures],
    }  # fmt: skip


def _answer(
    service: Service, monitor: Monitor, chosen: Chosen, level: float, detail: dict[str, Any]
) -> tuple[list[dict[str, str]], list[Measured]]:
    question = monitor.question
    train, test, several = with_slots(chosen.train, chosen.test)
    roles = choose_given(question, ROLES)
    by = tuple(name for name in detail["explain_by"] if name not in roles.get("explanatory", ()))
    roles["explanatory"] = [*roles.get("explanatory", ()), *by, *([SLOT] if several else [])]
    declared = choose_given(question, DECLARED)
    with service.database.reading() as connection:
        declaration = load_stream(connection, monitor.project, monitor.stream).declaration
        followed = followed_contexts(connection, monitor.project, monitor.id)
    columns = [name for name in seen_columns(declaration, question) if name in train.columns]
    columns += [SLOT] if several else []
    source = DataSource.divided(
        train.select(columns), test.select(columns), level, question.get("seed", 0), name=monitor.name, **declared
    )
    budget = put_under_budget(source)
    investigation = KINDS[question["kind"]](source, protected_of(question), question["output"], **roles)
    investigation.explained_by = by
    training, testing = (choose_given(question, names) for names in (TRAINING, TESTING))
    results = run_question(investigation, training, testing, followed, _notes(detail))
    stored = [pack_report(answered, declared) for answered in budget.answers]
    reports = [
        {
            "headline": _headline(each), "question": each.question, "prior": each.prior,
            "document": each.document, "json": each.json, "text": each.text, "html": each.html,
        }
        for each in stored
    ]  # fmt: skip
    return reports, list(_measures(results))


def _headline(stored: StoredReport) -> str:
    """Return a report in a line, with its answers in words."""
    (investigation,) = json.loads(stored.json)["investigations"]
    return json.dumps({**asdict(stored.headline), "answers": investigation["answers"]})


def _level_note(detail: dict[str, Any]) -> str:
    over = "its life" if detail["over"] == "life" else "the year"
    return (
        f"This is test set {detail['set']:,} of the monitor, people who came since the last one. It is tested at the "
        f"level {detail['level']:.3g}, its share of the error rate over {over}; {detail['left']:.3g} is left for all "
        "later sets together."
    )


def _notes(detail: dict[str, Any]) -> list[str]:
    """Return what a report says of its people: what was asked, their level, who was left out, if they are a sample."""
    notes = []
    if detail["explain_by"]:
        names = ", ".join(detail["explain_by"])
        notes.append(
            f"This run was asked to explain what had been found: people are compared who have the same {names}."
        )
    notes.append(_level_note(detail))
    if left_out := detail["without_truth"]:
        what = "record was" if left_out == 1 else "records were"
        notes.append(
            f"{left_out:,} {what} left out because what really happened did not become known in the time that the "
            "stream allows. If that depends on who they are, the errors shown here are not those of everybody."
        )
    if detail["sample"] < 1:
        notes.append(
            f"The stream keeps {100 * detail['sample']:g} % of people, chosen by a hash of their id. All counts are of "
            "those who are kept."
        )
    return notes


def _measures(results: Results) -> Iterator[Measured]:
    """Give the numbers of every context that is listed: those reported, and others that were tested."""
    for attribute in results.attributes:
        protected, output = attribute.population.protected, attribute.population.output
        seen = set()
        for each in (attribute.population, *attribute.findings, *attribute.labels):
            about = each.label or each.output
            fingerprint = fingerprint_of(each.protected, about, each.context)
            if fingerprint in seen:
                continue
            seen.add(fingerprint)
            low, high = each.interval if each.interval is not None else (None, None)
            body = {
                "protected": each.protected, "output": about, "context": pack(each.context), "words": str(each.context),
                "metric": each.metric, "sentence": each.sentence,
            }  # fmt: skip
            verdict = "reported" if each.significant else "not confirmed"
            yield Measured(fingerprint, body, each.effect, low, high, each.size, each.p_value, verdict)
        for other in attribute.others:
            fingerprint = fingerprint_of(protected, output, other.context)
            if other.effect is None or fingerprint in seen:
                continue
            low, high = other.interval if other.interval is not None else (None, None)
            verdict = "significant" if other.significant else "not confirmed"
            yield Measured(fingerprint, {}, other.effect, low, high, other.size, other.p_value, verdict)


def main() -> None:
    """Read what to do from standard input, and write what came out to standard output."""
    asked = json.loads(sys.stdin.readline())
    threading.Thread(target=_end_with_worker, daemon=True).start()
    settings, _ = from_text(asked["knows"])
    limit_memory(settings.run_memory)
    try:
        _write_answer(settings, asked)
    except Exception as error:  # the last line is what the run says of it
        sys.exit(describe_error(error))


def _end_with_worker() -> None:
    """End when the worker is gone: whoever takes the run over should not find the machine busy with it."""
    while os.read(0, 1):  # not sys.stdin, whose lock would keep the interpreter from ending
        pass
    os._exit(1)


def _write_answer(settings: Settings, asked: dict[str, Any]) -> None:
    answers = sys.stdout
    sys.stdout = sys.stderr  # nothing else may get between
    with warnings.catch_warnings(), Service(settings) as service:
        warnings.simplefilter("ignore")
        answer = audit(service, asked["project"], asked["monitor"], asked["version"], asked["explain_by"])
    json.dump(answer, answers)
    answers.flush()


if __name__ == "__main__":
    main()
