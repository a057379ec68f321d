"""Twelve tables of `spoiled_tables` and its second set as files, each with a system and an epsilon of its own."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
from numpy.random import Generator

from benchmarks import spoiled_tables as first
from benchmarks import spoiled_tables_second as second
from benchmarks.walk_tables import Walked

N = 1500
WAYS = {
    "loans": ("rls", "1"), "flights": ("rls", "3"), "orders": ("mst", "3"), "stations": ("rls", "10"),
    "pupils": ("rls", "0.5"), "hospital": ("independent", "1"), "measures": ("rls", "3"), "ballots": ("mst", "1"),
    "stays": ("rls", "10"), "answers": ("rls", "1"), "wages": ("independent", "10"), "visits": ("rls", "2"),
}  # fmt: skip
DATES = {
    "loans": ("Antragsdatum", "Auszahlung am"), "flights": ("dep_time", "arr_time"), "orders": ("placed",),
    "stations": ("day",), "hospital": ("birth_date", "admitted", "discharged"), "stays": ("arrival", "departure"),
    "visits": ("visit",),
}  # fmt: skip
MAKERS: dict[str, Callable[[Generator, int], pd.DataFrame]] = {
    **second.SHAPES, "stays": first.stays, "answers": first.answers, "wages": first.wages, "visits": first.visits,
}  # fmt: skip


def tables(seed: int = 909) -> list[Walked]:
    """All twelve; the same seed gives the same files."""
    out = []
    for i, name in enumerate(WAYS):
        frame = MAKERS[name](np.random.default_rng([seed, i]), N)
        german = name in ("loans", "pupils")
        out.append(
            Walked(
                name=name,
                frame=frame,
                never={},
                dates=DATES.get(name, ()),
                german=german,
                codes=("PLZ",) if name == "loans" else (),
                amounts=("Betrag",) if name == "loans" else (),
                person="person" if name == "visits" else None,
            )
        )
    return out
