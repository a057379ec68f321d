"""The bundled sample tables and their schemas, made by tools/make_sample.py: simulated, so nobody's data."""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).parent
NAMES = ("sample", "baskets", "hospital")


def paths(name: str) -> tuple[Path, Path]:
    """The table's and the schema's file: 'sample' (people of a census), 'baskets' (shopping) or 'hospital' (stays)."""
    return FOLDER / f"{name}.csv.gz", FOLDER / f"{name}.schema.json"
