"""Others' protocols: what cannot be is counted right, queries are what is counted by hand, and every one is printed."""

import re
from pathlib import Path

import numpy as np
import pytest

from benchmarks import community, installation, sigmod
from benchmarks.community_tables import ALL, TEN, N, coded, inconsistent, made, of_nist
from dpsyn_core.schema.domain import CodedAttribute, Domain

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module")
def people():
    return made(1500, 3)


def words(table):
    return {c: table[c].to_numpy().astype(str) for c in table.columns}


def test_invented_people_have_the_columns_of_the_cycle_and_nothing_that_cannot_be(people):
    assert set(people.columns) == set(ALL) and len(ALL) == 24 and len(TEN) == 10
    assert set(inconsistent(words(people)).values()) == {0.0}
    data = coded("x", people, ALL)
    assert set(inconsistent(data.read(data.codes)).values()) == {0.0}


@pytest.mark.parametrize(
    "group, change",
    [
        ("age", {"AGEP": "7", "MSP": "1"}),
        ("age", {"AGEP": "30", "EDU": N}),
        ("age", {"AGEP": "2", "EDU": "1"}),
        ("age", {"AGEP": "4", "DPHY": "1"}),
        ("work", {"INDP": N, "INDP_CAT": "3"}),
        ("housing", {"HOUSING_TYPE": "2", "OWN_RENT": "1"}),
        ("housing", {"HOUSING_TYPE": "1", "OWN_RENT": "0"}),
        ("housing", {"NOC": "4", "NPF": "4"}),
    ],
)
def test_each_kind_of_record_that_cannot_be_is_counted_once(people, group, change):
    table = people.copy()
    for column, value in change.items():
        table.loc[5, column] = value
    found = inconsistent(words(table))
    assert found[group] == pytest.approx(1 / len(table)) and found["any"] >= found[group]


def test_codes_are_read_back_as_the_cells_that_they_stand_for(people):
    data = coded("x", people, TEN)
    back = data.read(data.codes)
    assert all(np.array_equal(back[c], people[c].to_numpy()) for c in TEN)


def test_real_records_score_all_points(people):
    data = coded("x", people, ALL)
    row = community.row(data, "1", "copy", data.codes)
    assert row[3:] == ["1000", "100%", "0.0000", "0.000", "0.0%", "0.0%", "0.0%", "100.0%"]


def test_a_folder_without_an_excerpt_is_named(tmp_path):
    with pytest.raises(SystemExit, match=r"has no ma2019\.csv"):
        of_nist(tmp_path, "ma2019")
    (tmp_path / "ma2019.csv").write_text("PUMA,AGEP\n1,2\n", encoding="utf-8")
    with pytest.raises(SystemExit, match="lacks the columns SEX"):
        of_nist(tmp_path, "ma2019")


def test_an_excerpt_of_nist_is_read_as_it_is_published(people, tmp_path):
    people.to_csv(tmp_path / "ma2019.csv", index=False)
    assert of_nist(tmp_path, "ma2019")[list(ALL)].equals(people[list(ALL)].astype(str))


def test_queries_of_three_columns_count_what_a_loop_counts():
    listed = (("a", 5, True), ("b", 3, False), ("c", 4, True), ("d", 2, False))
    domain = Domain(tuple(CodedAttribute(name=n, size=s, ordered=o) for n, s, o in listed))
    rng = np.random.default_rng(0)
    codes = np.stack([rng.integers(0, a.size, 80) for a in domain.attributes])
    asked = sigmod.queries(domain)
    assert len(asked) == 1000
    for query, share in list(zip(asked, sigmod.answers(codes, asked), strict=True))[:50]:
        assert len(query) == 3
        held = sum(all(a <= record[i] <= b for i, a, b in query) for record in codes.T)
        assert share == pytest.approx(held / 80)
    assert all(a == b for query in asked for i, a, b in query if not domain.attributes[i].ordered)


def test_what_learns_from_real_records_beats_what_learns_from_shuffled_ones(monkeypatch):
    monkeypatch.setattr(sigmod, "TREES", 20)
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 2, 1500), rng.integers(0, 9, 1500)
    parts = np.split(np.stack([a, (a + (rng.random(1500) < 0.05)) % 2, b]).astype(np.uint8), [900, 1200], axis=1)
    target = 1
    real = sigmod.learned(*parts, target)
    shuffled = [rng.permutation(row) for row in parts[0]]
    scrambled = sigmod.learned(np.stack(shuffled), *parts[1:], target)
    for a, b in zip(real, scrambled, strict=True):
        assert a == b == "not installed" or float(a) > float(b) + 0.3


def test_the_weight_of_an_installation_counts_each_file_once(tmp_path):
    (tmp_path / "a").write_bytes(b"0" * 2**20)
    (tmp_path / "b").hardlink_to(tmp_path / "a")
    (tmp_path / "c").symlink_to(tmp_path / "a")
    assert installation.megabytes(tmp_path) == pytest.approx(1, abs=0.01)


def test_every_protocol_has_a_command_in_the_document():
    told = (ROOT / "docs" / "evidence" / "beside-others.md").read_text("utf-8")
    for command in ("peers.run", "sigmod", "community", "order", "linked --shape panel", "conclusions"):
        assert f"python -m benchmarks.{command}" in told, command
        name = command.split()[0].replace(".", "/")
        assert (ROOT / "benchmarks" / f"{name}.py").exists()
    assert not re.search(r"not done yet", told)
