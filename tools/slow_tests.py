"""Which tests `make test` leaves out for their time: adds to tests/slow.txt those that took long in a run of it.

`PYTEST_ADDOPTS="--durations=0 --durations-min=0.3" make test > run.txt; python -m tools.slow_tests run.txt`
"""

from __future__ import annotations

import argparse
import re
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

PLACE = Path(__file__).resolve().parents[1] / "tests" / "slow.txt"
LONGEST = 1.0  # seconds with set-up: 3 % of the tests that need Python alone take more, and most of their time
LINE = re.compile(r"([\d.]+)s (?:setup|call|teardown) +(tests/\S.*)")


def slow_tests(lines: Iterable[str]) -> list[str]:
    """Names of the tests that took longer than `LONGEST` together with what was set up for them, sorted."""
    seconds: dict[str, float] = defaultdict(float)
    for line in lines:
        found = LINE.fullmatch(line.strip())
        if found:
            seconds[found[2]] += float(found[1])
    return sorted(name for name, taken in seconds.items() if taken > LONGEST)


def main() -> int:
    """Adds to the list."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path, help="what pytest printed")
    names = slow_tests(parser.parse_args().run.read_text(encoding="utf-8").splitlines())
    listed = PLACE.read_text(encoding="utf-8").splitlines()
    PLACE.write_text("".join(f"{name}\n" for name in sorted({*listed, *names})), encoding="utf-8")
    print(f"{len(names)} tests took more than {LONGEST:g} s")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
