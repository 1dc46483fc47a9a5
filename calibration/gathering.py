"""Results of many runs of a simulation, kept line by line in a file, so that runs which were cut short add up."""

from __future__ import annotations

import json
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

Key = tuple[str, int]
"""A design and a seed."""


def gather(run: Callable[[Key], Any], keys: Sequence[Key], jobs: int = 1, path: str | None = None) -> dict[Key, Any]:
    """Run a simulation for every key, and return what each gave, as JSON has it.

    Parameters
    ----------
    run
        From a key to a result that JSON can hold.
    path
        A file of results: what is in it is not run again, and what is new is added to it. None: nothing is kept.
    """
    known = {} if path is None else _read(Path(path))
    missing = [key for key in keys if key not in known]
    with ProcessPoolExecutor(jobs) as pool:
        for key, result in zip(missing, pool.map(run, missing), strict=True):
            known[key] = json.loads(json.dumps(result, default=float))
            if path is not None:
                with Path(path).open("a", encoding="utf-8") as file:
                    file.write(json.dumps({"key": key, "result": known[key]}) + "\n")
    return {key: known[key] for key in keys}


def _read(path: Path) -> dict[Key, Any]:
    if not path.exists():
        return {}
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return {(str(line["key"][0]), int(line["key"][1])): line["result"] for line in lines}
