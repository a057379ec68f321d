"""One content digest for every format of a table, and another for every other table."""

import datetime as dt
import hashlib

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dpsyn_core.errors import TableError
from dpsyn_core.tables import digest
from dpsyn_core.tables.digest import content_digest, digests_of_file, excel_digest, file_digest
from dpsyn_core.tables.write import as_written, write_table

N = 300
RNG = np.random.default_rng(1)
COLUMNS = {
    "=h": pa.array(RNG.normal(size=N)),
    "few": pa.array([None if i % 7 == 0 else float(i % 5) for i in range(N)]),
    "whole": pa.array(RNG.integers(-5, 10**9, N)),
    "big": pa.array([10**17 + 3 * i for i in range(N)]),
    "text": pa.array([["=1", "a,b", "", 'x"y', "-3", "3.0", "l\nm", " \u00e9 "][i % 8] for i in range(N)]),
    "yes": pa.array([i % 2 == 0 for i in range(N)]),
    "day": pa.array([dt.date(2020, 1, 1 + i % 28) for i in range(N)]),
    "time": pa.array([dt.datetime(2020, 1, 1, i % 24, i % 60, i % 60) for i in range(N)], pa.timestamp("s")),
    "scale": pa.array(10.0 ** RNG.integers(-20, 30, N)),
    "none": pa.array([None] * N, pa.string()),
}
TABLE = pa.table(COLUMNS)


@pytest.mark.parametrize("ending", ["csv", "tsv", "csv.gz", "parquet", "xlsx"])
@pytest.mark.parametrize("rows", [N, 1, 0])
def test_every_format_of_a_table_has_the_digest_that_the_table_has(tmp_path, ending, rows):
    table = TABLE.slice(0, rows)
    write_table(table, tmp_path / f"t.{ending}")
    found, excel = digests_of_file(tmp_path / f"t.{ending}")
    content = content_digest(table)
    assert excel == (ending == "xlsx")
    assert found == (excel_digest(table, content) if excel else content)


def test_a_single_column_with_empty_cells_has_one_digest(tmp_path):
    table = pa.table({"a": ["x", "", "y", ""]})
    for ending in ("csv", "parquet"):
        write_table(table, tmp_path / f"t.{ending}")
        assert digests_of_file(tmp_path / f"t.{ending}")[0] == content_digest(table)


def test_any_change_of_a_cell_a_name_or_an_order_changes_the_digest():
    table = pa.table({"a": ["1", "23"], "b": ["x", ""]})
    others = [
        pa.table({"a": ["12", "3"], "b": ["x", ""]}),
        pa.table({"a": ["1", "23"], "b": ["", "x"]}),
        pa.table({"b": ["x", ""], "a": ["1", "23"]}),
        pa.table({"a": ["1", "23"], "c": ["x", ""]}),
        pa.table({"a": ["1", "23"]}),
        pa.table({"a": ["1", "23", ""], "b": ["x", "", ""]}),
        pa.table({"a": ["1"], "b": ["x"]}),
    ]
    digests = [content_digest(t) for t in (table, *others)]
    assert len(set(digests)) == len(digests)


def test_chunks_and_slices_play_no_part():
    halves = pa.concat_tables([TABLE.slice(0, 100), TABLE.slice(100)])
    assert content_digest(halves) == content_digest(TABLE)
    assert content_digest(TABLE.slice(7, 50)) == content_digest(pa.table(TABLE.slice(7, 50).to_pydict(), TABLE.schema))


def test_the_digest_is_the_documented_one():
    """As docs/manifest.md tells it, without this program."""
    rows = [["a", "b"], ["1", "x"], ["", "yz"]]
    sha = lambda data: hashlib.sha256(data).digest()  # noqa: E731
    whole = hashlib.sha256(f"{len(rows[0])} {len(rows) - 1}\n".encode())
    for name, *cells in zip(*rows, strict=True):
        texts = [c.encode() for c in cells]
        lengths = b"".join(len(t).to_bytes(8, "little") for t in texts)
        whole.update(sha(name.encode()) + sha(lengths) + sha(b"".join(texts)))
    assert content_digest(pa.table({"a": pa.array([1, None]), "b": ["x", "yz"]})) == whole.hexdigest()


def test_a_file_that_is_no_table_of_ours_is_refused_in_a_sentence(tmp_path):
    (tmp_path / "t.csv").write_bytes(b"a,b\n1\n\xff,2,3\n")
    (tmp_path / "t.parquet").write_bytes(b"no")
    (tmp_path / "t.doc").write_bytes(b"no")
    for name in ("t.csv", "t.parquet", "t.doc"):
        with pytest.raises(TableError, match=name):
            digests_of_file(tmp_path / name)
    with pytest.raises(TableError, match="cannot be read"):
        file_digest(tmp_path / "absent.csv")


def test_columns_that_come_as_dictionaries_have_the_digest_and_the_file_of_plain_ones(tmp_path):
    names = ("text", "whole", "day", "none")
    listed = pa.table({n: TABLE.column(n).dictionary_encode() for n in names} | {"big": TABLE.column("big")})
    plain = TABLE.select([*names, "big"])
    assert content_digest(listed) == content_digest(plain)
    write_table(listed, tmp_path / "listed.parquet")
    assert pq.read_table(tmp_path / "listed.parquet").equals(
        plain.cast(pq.read_table(tmp_path / "listed.parquet").schema)
    )
    write_table(plain, tmp_path / "plain.parquet")
    assert pq.read_schema(tmp_path / "listed.parquet") == pq.read_schema(tmp_path / "plain.parquet")
    assert digests_of_file(tmp_path / "listed.parquet")[0] == content_digest(plain)


def test_what_excel_keeps_of_numbers_is_what_one_number_at_a_time_gives():
    def alone(value):
        text = f"{value:.16g}"
        if "." not in text and "e" not in text:
            return text
        return str(as_written(pa.array([float(text)], pa.float64()))[0])

    rng = np.random.default_rng(1)
    wild = rng.normal(size=400) * 10.0 ** rng.integers(-300, 300, size=400)
    tame = np.concatenate([np.round(wild[:50] % 1000, 2), rng.integers(0, 10**17, size=100), [0.0, -0.0, 1e15, 1e16]])
    # sixteen digits of these are not the fewest that read back to the same number
    longer = np.append(np.round(rng.uniform(8, 10, size=200), 14), 0.1 + 0.2)
    for numbers in (wild, tame, longer, wild[:1], np.array([0.1 + 0.2]), np.array([0.25, 3.0, -17.5])):
        table = pa.table({"x": pa.chunked_array([pa.array([*numbers, None])] * 2)})
        one_by_one = pa.table({"x": pa.array([None if v is None else alone(v) for v in table["x"].to_pylist()])})
        assert excel_digest(table, content_digest(table)) == content_digest(one_by_one)


def test_numbers_of_few_digits_are_not_looked_at_one_by_one(monkeypatch):
    monkeypatch.setattr(digest, "_kept", None)
    table = pa.table({"x": [0.25, 1234.5, -1e-9, 123456789.0123456], "y": [1, 2, 3, None]})
    assert excel_digest(table, "content") == "content"
