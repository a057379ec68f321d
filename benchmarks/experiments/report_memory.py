"""Memory of a report: `python -m benchmarks.experiments.report_memory [--records 200000,1500000]`.

Runs `dpsyn report` on two tables of Adult codes, drawn again, as the real and as the synthetic one, at each size, and
prints the peak memory, and how many bytes each further cell of the two tables takes.
"""

from __future__ import annotations

import argparse
import itertools
import sys
import tempfile
from pathlib import Path

from benchmarks.process import dpsyn, measure
from benchmarks.scale import ADULT, resampled


def main() -> None:
    """Prints one line a size, and the difference of neighbouring sizes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", default="200000,1500000", help="sizes, with commas between them")
    args = parser.parse_args()
    peaks: list[tuple[int, float]] = []
    print("| records of each | peak MB | CPU s |\n|---|---|---|")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for records in map(int, args.records.split(",")):
            real, schema = folder / f"{records}.parquet", folder / "adult.json"
            resampled(real, schema, records)
            command = dpsyn(
                "report", real, real, "--schema", schema, "--html", folder / "r.html", "--memory", "20GB", "--quiet"
            )
            cost = measure(command, home=folder / "home")
            if cost.status:
                sys.exit(f"{' '.join(command)} exited {cost.status}: {cost.errors}")
            peaks.append((records, cost.megabytes))
            print(f"| {records:,} | {cost.megabytes:.0f} | {cost.cpu:.0f} |", flush=True)
    for (few, low), (many, high) in itertools.pairwise(peaks):
        print(f"\n{(high - low) * 1e6 / ((many - few) * ADULT * 2):.0f} bytes a cell")


if __name__ == "__main__":
    main()
