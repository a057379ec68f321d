"""The bundled sample tables and their schemas, made by tools/make_sample.py: simulated, so nobody's data."""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).parent
NAMES = ("sample", "baskets", "hospital")
LINKED = {"households": ("households", "persons")}  # samples of several linked tables, with the names of these


def paths(name: str) -> tuple[Path, Path]:
    """The table's and the schema's file: 'sample' (people of a census), 'baskets' (shopping) or 'hospital' (stays)."""
    return FOLDER / f"{name}.csv.gz", FOLDER / f"{name}.schema.json"


def linked_paths(name: str) -> tuple[dict[str, Path], Path]:
    """The files of the tables of a linked sample, by their names, and that of its schema."""
    return {table: FOLDER / f"{table}.csv.gz" for table in LINKED[name]}, FOLDER / f"{name}.schema.json"
