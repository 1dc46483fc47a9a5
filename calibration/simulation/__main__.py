"""Play worlds of many seeds, or one again."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

from calibration.simulation.play import play, prepare_template


def main() -> None:
    """Print the seeds in which something is wrong, and how many were played."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=2000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--steps", type=int, default=80)
    parser.add_argument("--seed", type=int, help="play this one alone, and show its steps")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        template = prepare_template(Path(name) / "template")
        if given.seed is not None:
            played = play(given.seed, template, given.steps)
            print("\n".join([*played.log, *(f"wrong: {each}" for each in played.wrong or ["nothing"])]))
            sys.exit(bool(played.wrong))
        start, bad, steps, done = time.process_time(), 0, 0, 0
        for seed in range(given.first, given.first + given.seeds):
            played = play(seed, template, given.steps)
            steps, done = steps + len(played.log), done + played.done
            if played.wrong:
                bad += 1
                print(f"seed {seed}: {played.wrong}", flush=True)
        cpu = time.process_time() - start
    print(f"{given.seeds} seeds, {steps} steps, {done} runs spent, {bad} with a fault, {cpu:.0f} CPU-s", flush=True)
    sys.exit(bool(bad))


if __name__ == "__main__":
    main()
