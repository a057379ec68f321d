"""The bundled sample tables and their schemas, written by tools/make_sample.py: simulated, so nobody's data."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
NAMES = ("sample", "baskets", "hospital", "firecalls", "census98")
WORKED = ("firecalls", "census98")  # samples that come with a worked design for dpsyn-2018
LINKED = {"households": ("households", "persons")}  # samples of several linked tables, with the names of these


def paths(name: str) -> tuple[Path, Path]:
    """The table's and the schema's file of one of NAMES."""
    return FOLDER / f"{name}.csv.gz", FOLDER / f"{name}.schema.json"


def linked_paths(name: str) -> tuple[dict[str, Path], Path]:
    """The files of the tables of a linked sample, by their names, and that of its schema."""
    return {table: FOLDER / f"{table}.csv.gz" for table in LINKED[name]}, FOLDER / f"{name}.schema.json"


def worked_design(name: str) -> dict[str, Any]:
    """The design of the method dpsyn-2018 that ships with one of WORKED, or with the people in codes ('sample')."""
    design: dict[str, Any] = json.loads((FOLDER / f"{name}.design.json").read_bytes())
    return design
