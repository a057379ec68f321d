"""Kinds of tables of `python -m benchmarks.structure`: their schemas describe them, their figures are read off."""

import json
import math

import numpy as np
import pyarrow as pa
import pytest

from benchmarks.structure import KINDS, Drawn, changes, shown
from dpsyn_core.runs.tables import table_of
from dpsyn_core.schema.codec import Codec


def test_there_are_enough_kinds():
    assert len(KINDS) >= 12


@pytest.mark.parametrize("name", KINDS)
def test_a_table_of_a_kind_is_what_its_schema_says(name):
    kind = KINDS[name]()
    first = kind.drawn(np.random.default_rng(1))
    assert first.equals(kind.drawn(np.random.default_rng(1))) and not first.equals(kind.drawn(np.random.default_rng(2)))
    encoded = Codec(kind.schema()).encode(pa.Table.from_pandas(first, preserve_index=False))
    assert encoded.codes.shape == (len(first.columns), len(first)) and encoded.kept is None  # a stray cell is refused


def test_a_table_that_is_its_own_synthetic_one_is_at_no_distance():
    drawn = Drawn(KINDS["club"]())
    rng = np.random.default_rng(0)
    again = drawn.kind.columns(table_of(drawn.codes, drawn.schema, columns=drawn.names, rng=rng))
    figures = drawn.figures(again)
    assert figures == drawn.figures(drawn.real) and figures["pairs (distance)"] == 0
    mixed = drawn.figures(again.assign(team=rng.permutation(again.team)))
    assert mixed["V of team and coach"] < figures["V of team and coach"] and mixed["pairs (distance)"] > 0
    assert all(math.isfinite(v) for v in figures.values())


def test_lines_that_were_kept_are_shown_with_the_median_of_releases():
    lines = [{"kind": "club", "system": "real", "figures": {"V of team and coach": 0.9}}]
    lines += [
        {"kind": "club", "system": "rls", "epsilon": e, "figures": {"V of team and coach": e + v}}
        for e in (1.0, 3.0)
        for v in (0.25, 0.5, 7.0)
    ]
    text = shown(json.loads(json.dumps(lines)), each=False)
    assert "| V of team and coach | 0.900 | 1.50 / 3.50 |" in text


def test_what_a_mechanism_buys_is_shown_in_pairs_and_by_the_figure_that_loses_most():
    def line(system, pairs, found):
        figures = {"V of team and coach": found, "pairs (distance)": pairs}
        return {"kind": "club", "system": system, "epsilon": 1.0, "figures": figures}

    lines = [{"kind": "club", "system": "real", "figures": {"V of team and coach": 0.9, "pairs (distance)": 0.0}}]
    lines += [line("rls", 0.1, 0.8), line("rls without it", 0.11, 0.3), line("rls without nothing", 0.1, 0.8)]
    text = changes(lines)
    assert "| it | 1 | +10.0 %; V of team and coach 0.800, 0.300 (0.900) |" in text
    assert "nothing" not in text
