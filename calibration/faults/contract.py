"""Every operation of the interface with requests that its description allows and that it does not.

Run it with ``make contract``, or ``python -m calibration.faults.contract --cases 100``. Schemathesis makes the requests
from the OpenAPI document; ids of things that exist are mixed in, so that not everything ends with 404. No answer may be
a fault of the server, and each must be as the document says.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from calibration.faults.serving import MONITOR, STREAM, prepare
from fairtest.service.api.app import create_app
from fairtest.service.service import Service
from fairtest.service.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Iterator

OWN = {"stream": STREAM, "monitor": MONITOR, "project": "acme", "number": 1}
"""Names of things that are there."""
SPARED = {("DELETE", "/v1/streams/{stream}"), ("DELETE", "/v1/monitors/{monitor}")}
"""What would take away the things that the others ask for: their ids are never those."""


def check_operations(settings: Settings, cases: int, seed: int = 1) -> Iterator[tuple[str, Counter[int], list[str]]]:
    """Give for each operation how often each status was answered, and what was wrong."""
    import schemathesis

    key = prepare(settings)
    with Service(settings, writes=True) as service:
        schema = schemathesis.openapi.from_asgi("/v1/openapi.json", create_app(service))
        for found in schema.get_all_operations():
            operation = found.ok()
            statuses, wrong = _check(operation, key, cases, seed)
            yield f"{operation.method.upper()} {operation.path}", statuses, wrong


def _check(operation: Any, key: str, cases: int, seed: int) -> tuple[Counter[int], list[str]]:
    import hypothesis
    from schemathesis import GenerationMode
    from schemathesis.checks import not_a_server_error
    from schemathesis.specs.openapi.checks import (
        content_type_conformance,
        response_schema_conformance,
        status_code_conformance,
    )

    statuses: Counter[int] = Counter()
    wrong: dict[str, None] = {}
    checks = [not_a_server_error, content_type_conformance, response_schema_conformance, status_code_conformance]
    spared = (operation.method.upper(), operation.path) in SPARED

    def call(case: Any) -> None:
        if not spared and (sum(statuses.values()) % 2):  # every other request is about something that exists
            case.path_parameters = {name: OWN.get(name, value) for name, value in (case.path_parameters or {}).items()}
            case.headers.pop("fairtest-project", None)
        response = case.call(headers={"Authorization": f"Bearer {key}"})
        statuses[response.status_code] += 1
        try:
            case.validate_response(response, checks=checks)
        except BaseException as error:  # schemathesis groups its failures
            wrong.setdefault(_first_words(error))

    for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE):
        test = hypothesis.given(case=operation.as_strategy(generation_mode=mode))(call)
        test = hypothesis.settings(
            max_examples=max(cases // 2, 1), deadline=None, database=None, derandomize=False,
            suppress_health_check=list(hypothesis.HealthCheck), phases=[hypothesis.Phase.generate],
        )(hypothesis.seed(seed)(test))  # fmt: skip
        try:
            test()
        except (hypothesis.errors.Unsatisfiable, hypothesis.errors.FlakyFailure) as error:
            if not isinstance(error, hypothesis.errors.Unsatisfiable):
                wrong.setdefault(str(error))
        except schemathesis_errors() as error:  # an operation without parameters has nothing to be wrong in
            if mode is GenerationMode.POSITIVE:
                wrong.setdefault(str(error))
    return statuses, list(wrong)


def schemathesis_errors() -> tuple[type[Exception], ...]:
    """Return what is raised where an operation leaves nothing to make up."""
    from schemathesis.errors import SchemathesisError

    return (SchemathesisError,)


def _first_words(error: BaseException) -> str:
    inner = getattr(error, "exceptions", None)
    return "; ".join(_first_words(each) for each in inner) if inner else str(error).strip()[:300].replace("\n", " ")


def main() -> None:
    """Print what each operation answered, and what was wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    total, bad = 0, 0
    with tempfile.TemporaryDirectory() as name:
        for operation, statuses, wrong in check_operations(Settings(Path(name), disk_least=0), given.cases, given.seed):
            total, bad = total + sum(statuses.values()), bad + len(wrong)
            print(operation, dict(sorted(statuses.items())), *wrong, sep="\n    " if wrong else " ", flush=True)
    print(f"{total} requests, {bad} breaches", flush=True)
    sys.exit(bool(bad))


if __name__ == "__main__":
    main()
