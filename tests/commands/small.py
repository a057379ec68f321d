"""A small table and its schema, for tests of commands."""

from pathlib import Path

SCHEMA = {
    "version": 1,
    "name": "people",
    "attributes": [
        {"name": "sex", "kind": "categorical", "values": ["F", "M"]},
        {"name": "age", "kind": "numeric", "dtype": "integer", "min": 0, "max": 99, "bins": {"count": 10}},
        {"name": "pay", "kind": "numeric", "dtype": "float", "min": 0, "max": 10, "bins": {"count": 5}},
        {"name": "note", "kind": "categorical", "values": ["=1+1", "a,b", "c"]},
    ],
}


def write_table(path: Path) -> None:
    """Two hundred records."""
    rows = [f'{"FM"[i % 2]},{i % 100},{i % 10},"{["=1+1", "a,b", "c"][i % 3]}"' for i in range(200)]
    path.write_text("sex,age,pay,note\n" + "\n".join(rows) + "\n", encoding="utf-8")
