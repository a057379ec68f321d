import collections

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpsyn_core.errors import EngineError
from dpsyn_core.measure.sources.bounding import bound, record_hashes
from dpsyn_core.schema.codec import Codec, Encoded
from tests.schema.helpers import cat, schema

KEY = bytes(range(32))


def encoded(records):
    """records: (identifier, code, code) triples."""
    codes = np.array([r[1:] for r in records], dtype=np.uint8).T.copy() if records else np.zeros((2, 0), np.uint8)
    return Encoded(codes=codes, identifiers=pa.array([r[0] for r in records], pa.string()).dictionary_encode())


def kept(records, max_records, key=KEY):
    """What each individual keeps, as multisets of records."""
    whole = encoded(records)
    marked = Encoded(
        codes=np.vstack([whole.codes, np.arange(len(records), dtype=np.uint8)]), identifiers=whole.identifiers
    )
    hashes = record_hashes(whole, key)
    from dpsyn_core.measure.sources.bounding import kept as rule

    keep = rule(np.asarray(whole.identifiers.indices), hashes, max_records)
    out = collections.defaultdict(collections.Counter)
    for i in marked.codes[-1][keep]:
        out[records[i][0]][records[i][1:]] += 1
    assert bound(whole, max_records, key=key).shape[1] == keep.sum()
    return dict(out)


records = st.lists(
    st.tuples(st.sampled_from(["ann", "bob", "eve", "", "é"]), st.integers(0, 3), st.integers(0, 3)), max_size=40
)


@settings(max_examples=100, deadline=None)
@given(records, st.integers(1, 4))
def test_nobody_keeps_more_than_max_records_records_and_nobody_loses_one_needlessly(rows, max_records):
    had = collections.Counter(r[0] for r in rows)
    got = {who: sum(c.values()) for who, c in kept(rows, max_records).items()}
    assert got == {who: min(n, max_records) for who, n in had.items()}


@settings(max_examples=100, deadline=None)
@given(records, st.integers(1, 3), st.randoms())
def test_what_is_kept_depends_neither_on_the_order_of_the_file_nor_on_anybody_else(rows, max_records, random):
    before = kept(rows, max_records)
    shuffled = rows.copy()
    random.shuffle(shuffled)
    assert kept(shuffled, max_records) == before
    for who in {r[0] for r in rows}:
        alone = kept([r for r in shuffled if r[0] == who], max_records)
        assert alone[who] == before[who]
    newcomer = [("zoe", 1, 1)] * 3 + shuffled
    after = kept(newcomer, max_records)
    after.pop("zoe")
    assert after == before


def test_a_neighbour_moves_a_marginal_by_at_most_theta():
    rng = np.random.default_rng(0)
    rows = [(f"p{rng.integers(30)}", int(rng.integers(4)), int(rng.integers(4))) for _ in range(400)]
    for max_records in (1, 2, 5):
        whole = np.bincount(bound(encoded(rows), max_records, key=KEY)[0], minlength=4)
        for who in ("p0", "p7", "p29"):
            without = np.bincount(
                bound(encoded([r for r in rows if r[0] != who]), max_records, key=KEY)[0], minlength=4
            )
            assert np.abs(whole - without).sum() <= max_records


@pytest.mark.slow
def test_every_key_makes_its_own_choice_and_no_record_is_favoured():
    rows = [("ann", i, 0) for i in range(4)]
    counts = collections.Counter()
    for seed in range(4000):
        key = np.random.default_rng(seed).bytes(32)
        (record,) = kept(rows, 1, key)["ann"]
        counts[record[0]] += 1
    # chi-square with 3 degrees of freedom exceeds 21.1 once in 10,000
    assert sum((counts[i] - 1000) ** 2 / 1000 for i in range(4)) < 21.1


def test_individuals_with_equal_records_choose_differently():
    rows = [(f"p{who}", i, 0) for who in range(200) for i in range(4)]
    first = collections.Counter(record[0] for c in kept(rows[:200], 1).values() for record in c)
    assert len(first) == 4  # one order for all would keep the same record of everybody


def test_without_identifiers_nothing_is_removed():
    codes = np.zeros((1, 5), dtype=np.uint8)
    assert bound(Encoded(codes=codes), 1) is codes


def test_the_order_of_the_table_is_kept_and_codes_stay_contiguous():
    rows = [("a", 3, 0), ("b", 2, 0), ("c", 1, 0), ("a", 3, 0)]
    out = bound(encoded(rows), 1)
    assert out.flags.c_contiguous and sorted(out[0].tolist()) == [1, 2, 3]
    assert out[0].tolist() in ([3, 2, 1], [2, 1, 3])


def test_fresh_keys_are_drawn_when_none_is_given():
    rows = [("a", i % 4, i // 4) for i in range(16)] * 4
    assert len({tuple(bound(encoded(rows), 4).ravel().tolist()) for _ in range(20)}) > 1


def test_a_zero_max_records_or_a_short_key_is_a_fault_of_ours():
    with pytest.raises(EngineError):
        bound(encoded([("a", 0, 0)]), 0)
    with pytest.raises(EngineError):
        bound(encoded([("a", 0, 0)]), 1, key=b"short")


def test_typed_and_textual_identifiers_choose_alike():
    codec = Codec(schema(cat("a", [0, 1, 2, 3]), unit={"identifier": "id", "max_records": 1}))
    values = list(range(4)) * 10
    ids = [i // 4 for i in range(40)]
    typed = codec.encode(pa.table({"a": values, "id": ids}))
    text = codec.encode(pa.table({"a": [str(v) for v in values], "id": [str(i) for i in ids]}))
    assert (bound(typed, 1, key=KEY) == bound(text, 1, key=KEY)).all()


def mixed(x):
    """The finaliser of splitmix64 in Python's whole numbers."""
    x &= 2**64 - 1
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB % 2**64
    return x ^ (x >> 31)


def test_hashes_of_records_are_those_of_whole_numbers_worked_out_one_by_one():
    """Every word of the key counts: the first for lengths, the second for letters and codes, then names and places."""
    rows = [("ann", 1, 0), ("bob", 1, 0), ("é", 3, 2), ("", 0, 1), ("ann", 0, 1), ("ann", 1, 0)]
    words = [int.from_bytes(KEY[i : i + 8], "little") for i in range(0, 32, 8)]
    expected = []
    for name, *codes in rows:
        letters = name.encode()
        h = words[0] ^ len(letters)
        for letter in letters:
            h = mixed(h + words[1] + letter)
        h = mixed(h ^ words[2])
        for position, code in enumerate(codes):
            h = mixed(h + mixed(words[3] + position) + code * words[1])
        expected.append(h)
    assert record_hashes(encoded(rows), KEY).tolist() == expected
