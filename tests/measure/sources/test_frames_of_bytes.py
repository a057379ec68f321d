"""Frames whose text is not UTF-8: such a cell is a misfit of its own, and no other record hears of it."""

import pandas as pd
import pyarrow as pa
import pytest

from dpsyn_core.measure.sources.memory import MemorySource
from dpsyn_core.progress import silent
from tests.audit.whole import schema


def text(cells, kind):
    """A column of text from bytes, unchecked, as files and other programs make it."""
    return pa.array(cells, pa.binary()).cast(pa.large_binary() if kind == pa.large_string() else pa.binary()).view(kind)


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string()])
@pytest.mark.parametrize("made", [lambda t: t, lambda t: t.to_pandas(types_mapper=pd.ArrowDtype)])
def test_a_cell_that_is_not_utf_8_is_a_misfit_of_its_own(kind, made):
    columns = {
        "who": [b"ann", b"b\xff", b"eve"], "city": [b"rome", b"x\xc3(", b"oslo"], "age": [b"4", b"\xfe", b"55"],
        "smokes": [b"no", b"\x80", b"yes"],
    }  # fmt: skip
    table = pa.table({name: text(cells, kind) for name, cells in columns.items()})
    without = pa.table({name: text([cells[0], cells[2]], kind) for name, cells in columns.items()})
    for unit, of_odd in (({"max_records": 1}, 1), ({"identifier": "who", "max_records": 2}, 0)):
        found = []
        for each in (table, without):
            with MemorySource(made(each)).open(schema(unit=unit), progress=silent) as opened:
                found.append((opened.n_records, *opened.counter.marginals([("city", "age"), ("smokes",)])))
        assert found[0][0] - found[1][0] == of_odd  # without a name that can be read, a record is left out
        assert all(
            (a - b).min() >= 0 and (a - b).sum() == of_odd for a, b in zip(found[0][1:], found[1][1:], strict=True)
        )
