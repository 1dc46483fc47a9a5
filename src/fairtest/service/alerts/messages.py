"""What an alert says: as JSON for programs, as a letter for people."""

from __future__ import annotations

import datetime as dt
import json
from typing import Any

TYPES = {
    "new": "finding.new",
    "worse": "finding.worse",
    "better": "finding.better",
    "gone": "finding.gone",
    "no_data": "stream.no_data",
    "run_failed": "run.failed",
    "test": "test",
}
"""The kinds of events, and the type of message that programs see."""
HEADLINES = {
    "new": "a link was found",
    "worse": "a link has become stronger",
    "better": "a link has become weaker",
    "gone": "a link is gone",
    "no_data": "no records arrive",
    "run_failed": "a run failed",
    "test": "this is a test",
}


def write_json(kind: str, moment: float, body: dict[str, Any], public_url: str) -> bytes:
    """Return the body of a webhook."""
    when = dt.datetime.fromtimestamp(moment, dt.UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    data = {**body, "link": _link(body, public_url)}
    message = {"type": TYPES[kind], "timestamp": when, "data": data}
    return json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode()


def write_letter(kind: str, moment: float, body: dict[str, Any], public_url: str) -> tuple[str, str]:
    """Return the subject and the text of an e-mail."""
    name = str(body.get("monitor_name") or body.get("monitor") or "FairTest")
    when = dt.datetime.fromtimestamp(moment, dt.UTC).strftime("%d %B %Y, %H:%M UTC")
    lines = [str(body.get("sentence") or f"{HEADLINES[kind].capitalize()}."), ""]
    if body.get("interval"):
        low, high = body["interval"]
        lines.append(
            f"Effect on all days so far: {body.get('effect', '–')} [{low}, {high}]; the interval holds on any day."
        )
    if body.get("stake") is not None:
        lines.append(f"Evidence: a stake of {body['stake']} times what was bet.")
    lines += [f"Monitor: {name}", f"When: {when}"]
    if link := _link(body, public_url):
        lines.append(f"More: {link}")
    return f"[FairTest] {name}: {HEADLINES[kind]}", "\n".join(lines) + "\n"


def _link(body: dict[str, Any], public_url: str) -> str:
    if not public_url:
        return ""
    for name, page in (("finding_id", "findings"), ("run", "runs"), ("monitor", "monitors")):
        if body.get(name):
            return f"{public_url}/p/{body['project']}/{page}/{body[name]}"
    return public_url
