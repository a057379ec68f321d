"""What noise alone would give single columns, for tables of several shapes: by which runs are warned of.

`python -m benchmarks.experiments.outlook [--methods privbayes,rls]` plans runs at epsilon 1 (delta 1e-5 where the
system takes one) on schemas of the shapes of docs/systems.md and prints `dpsyn_core.runs.plan.column_error` of each.
"""

from __future__ import annotations

import argparse
from typing import Any

from benchmarks.process import table as markdown
from dpsyn_core.runs.plan import LOST, column_error, plan
from dpsyn_core.runs.spec import RunSpec
from dpsyn_core.schema.document import Schema
from dpsyn_core.synthesizers.registry import config_class

SHAPES = {  # name: (records, sizes of categories, numbers)
    "Adult": (43_957, (9, 16, 7, 15, 6, 5, 2, 42, 2), 5),
    "credit-like": (45_000, (2,), 29),
    "wide": (16_200, (2,), 100),
    "esr-like": (10_350, (2,), 179),
    "isolet-like": (7_020, (2,), 617),
    "a questionnaire": (300, (4,) * 8, 0),
}


def schema_of(name: str, neighbours: str) -> Schema:
    """A schema of a shape, with a public number of records."""
    records, sizes, numbers = SHAPES[name]
    attributes: list[dict[str, Any]] = [
        {"name": f"c{i}", "kind": "categorical", "values": list(range(size))} for i, size in enumerate(sizes)
    ]
    attributes += [
        {"name": f"v{i}", "kind": "numeric", "dtype": "float", "min": 0, "max": 10, "step": 0.01}
        for i in range(numbers)
    ]
    unit = {"neighbours": neighbours}
    return Schema.of({"version": 1, "name": name, "n_records": records, "unit": unit, "attributes": attributes})


def main() -> None:
    """Prints one line a shape."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--methods", default="privbayes,independent,mst,rls")
    methods = parser.parse_args().methods.split(",")
    rows = []
    for name, (records, sizes, numbers) in SHAPES.items():
        row = [f"{name}, {records:,} x {len(sizes) + numbers}"]
        for method in methods:
            guarantee = config_class(method).guarantee
            schema = schema_of(name, guarantee.neighbours[0])
            spec = RunSpec(epsilon=1.0, delta=1e-5 if guarantee.approximate else 0.0, method=method)
            domain = spec.config.working_domain(schema.domain())
            error = column_error(plan(spec, schema), domain, records)
            row.append("-" if error is None else f"{error:.3f}{' (warned)' if error >= LOST else ''}")
        rows.append(row)
    print(markdown(["table", *methods], rows))


if __name__ == "__main__":
    main()
