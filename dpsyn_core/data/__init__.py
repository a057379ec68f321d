"""The bundled sample tables and their schemas, made by tools/make_sample.py: simulated, so nobody's data."""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).parent
NAMES = ("sample", "baskets")


def paths(name: str) -> tuple[Path, Path]:
    """The table's and the schema's file of a sample: 'sample' (people of a census) or 'baskets' (shopping)."""
    return FOLDER / f"{name}.csv.gz", FOLDER / f"{name}.schema.json"
