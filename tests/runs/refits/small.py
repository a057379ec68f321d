"""Releases of a small table, for tests of refits."""

import json
from pathlib import Path

from dpsyn_core.commands.cli import main

SCHEMA = {
    "version": 1,
    "name": "people",
    "attributes": [
        {"name": "sex", "kind": "categorical", "values": ["F", "M"]},
        {"name": "age", "kind": "numeric", "dtype": "integer", "min": 0, "max": 99, "bins": {"count": 10}},
        {"name": "city", "kind": "categorical", "values": ["A", "B", "C, D"], "other": True, "missing": True},
        {"name": "born", "kind": "datetime", "min": "1950-01-01", "max": "1999-12-31", "bins": {"every": "year"}},
    ],
}
BUDGET = {"independent": "1e-6", "privbayes": "0", "field-groups": "0"}
GROUPED = {"field-groups": ["--set", 'groups=["sex+city"]']}


def write(folder):
    """The table and its schema, in a folder."""
    rows = [
        f"{'FM'[i % 2]},{i * 7 % 100},{['A', 'B', 'C, D', ''][(i % 2 + i // 5) % 4]!r},{1950 + i % 50}-0{1 + i % 9}-11"
        for i in range(400)
    ]
    text = "\n".join(r.replace("'", '"') for r in rows)
    (folder / "t.csv").write_text("sex,age,city,born\n" + text + "\n")
    (folder / "s.json").write_text(json.dumps(SCHEMA))


def synth(method, *more):
    """A run that keeps its release in METHOD.dpsyn."""
    schema = json.loads(Path("s.json").read_text())
    if method in ("privbayes", "mwem"):
        schema |= {"n_records": 400, "unit": {"neighbours": "replace"}}
    Path(f"{method}.json").write_text(json.dumps(schema))
    words = f"synth t.csv --schema {method}.json --epsilon 2 --delta {BUDGET.get(method, '1e-6')} --method {method}"
    words += f" --seed 5 -o {method}.csv --save-release {method}.dpsyn --quiet"
    return main([*words.split(), *GROUPED.get(method, []), *more])
