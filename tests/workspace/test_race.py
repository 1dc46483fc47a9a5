"""Eight processes, three test sets."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING

from audits import QUICK, in_a_process, words

import fairtest as ft

if TYPE_CHECKING:
    from pathlib import Path

PROCESSES, BUDGET = 8, 3


def test_exactly_as_many_answers_as_test_sets(people: Path, tmp_path: Path) -> None:
    """They race to make the workspace too: each is given the bare file and the budget."""
    command = words("test", people, "-p", "sex", "-o", "hired", *QUICK, "--budget", BUDGET, "--json", "-")
    racing = [
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8")
        for _ in range(PROCESSES)
    ]
    ended = [(process.communicate(timeout=600), process.returncode) for process in racing]
    answered = [out for (out, _), code in ended if code == 0]
    refused = [(out, err) for (out, err), code in ended if code == 3]
    assert (len(answered), len(refused)) == (BUDGET, PROCESSES - BUDGET)
    for out, err in refused:
        assert out == ""
        assert err.splitlines()[-1].startswith("fairtest: The budget of the workspace")
        assert "Traceback" not in err
    workspace = ft.Workspace(tmp_path / "people.fairtest")
    assert sorted(json.loads(out)["settings"]["set"] for out in answered) == [1, 2, 3]
    for out in answered:
        assert workspace.ledger.reports(json.loads(out)["settings"]["set"])[0].json == out
    assert in_a_process("status", workspace.path, cwd=tmp_path).out.count("Testing of 'hired'") == BUDGET
