"""Run all benchmarks: ``python -m benchmarks``."""

from __future__ import annotations

from benchmarks import adult, million, startup
from benchmarks.measure import table, yardstick


def main() -> None:
    unit = yardstick()
    results = [*startup.run(), *adult.run(), *million.run()]
    print()
    print(table(results, unit))


if __name__ == "__main__":
    main()
