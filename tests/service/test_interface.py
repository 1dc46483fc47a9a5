"""The interface under ``/v1`` only grows: what a client of the last release relies on is still there.

What it relies on is in ``tests/data/interface.txt``, a line for each operation, parameter, field and answer. With a
release it is written anew: ``python tests/service/test_interface.py``.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from fairtest.service.api.app import create_app
from fairtest.service.service import Service
from fairtest.service.settings import Settings

PROMISED = Path(__file__).parents[1] / "data" / "interface.txt"
METHODS = {"get", "post", "put", "patch", "delete"}
NEEDS = " needs "
"""What a line has that says what a client must send: such a line may go, and may not come."""


def describe_interface(folder: Path) -> set[str]:
    """Return what a client can rely on, a line each."""
    with Service(Settings(folder, disk_least=0)) as service:
        document = create_app(service).openapi()
    lines: set[str] = set()
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            if method in METHODS and path.startswith("/v1/"):
                lines |= set(_describe(document, f"{method.upper()} {path}", operation))
    return lines


def _describe(document: dict[str, Any], name: str, operation: dict[str, Any]) -> list[str]:
    lines = [name]
    for parameter in operation.get("parameters", []):
        verb = NEEDS if parameter.get("required") and parameter["in"] != "path" else " takes "
        lines.append(f"{name}{verb}{parameter['in']} {parameter['name']}")
    for kind, body in operation.get("requestBody", {}).get("content", {}).items():
        lines.append(f"{name} takes {kind}")
        schema = _follow(document, body.get("schema", {}))
        lines += [f"{name} takes {kind} {field}" for field in schema.get("properties", {})]
        lines += [f"{name}{NEEDS}{kind} {field}" for field in schema.get("required", [])]
    for status, answer in operation["responses"].items():
        if status.startswith("2"):
            lines.append(f"{name} answers {status}")
            for kind, body in answer.get("content", {}).items():
                schema = _follow(document, body.get("schema", {}))
                lines += [f"{name} answers {status} {kind} {field}" for field in schema.get("properties", {})]
    return lines


def _follow(document: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    if "$ref" not in schema:
        return schema
    found: dict[str, Any] = document["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    return found


def test_nothing_that_was_promised_is_gone_and_nothing_more_is_needed(tmp_path: Path) -> None:
    promised, now = set(PROMISED.read_text("utf-8").splitlines()), describe_interface(tmp_path)
    gone = sorted(line for line in promised - now if NEEDS not in line)
    assert gone == [], "clients of the last release rely on it"
    operations = {line for line in promised if line.count(" ") == 1}
    more = sorted(line for line in now - promised if NEEDS in line and line.split(NEEDS)[0] in operations)
    assert more == [], "clients of the last release do not send it"


def test_what_was_promised_is_of_this_interface() -> None:
    lines = PROMISED.read_text("utf-8").splitlines()
    assert lines == sorted(lines)
    assert "POST /v1/streams/{stream}/records answers 201" in lines
    assert len(lines) > 200


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        PROMISED.write_text("\n".join(sorted(describe_interface(Path(folder)))) + "\n", "utf-8")
