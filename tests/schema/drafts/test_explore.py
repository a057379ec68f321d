"""A public table is looked at and read into a proposal; a private one is refused."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dpsyn_core.commands.cli import main
from dpsyn_core.errors import InputError
from dpsyn_core.evaluate.exploration import explore, interactions, proposed_questions
from dpsyn_core.questions.document import Questions
from dpsyn_core.runs.choose.proposals import propose
from dpsyn_core.schema.document import Schema
from dpsyn_core.schema.sample import sample_schema, sample_table
from dpsyn_core.systems.registry import configure

N = 6000


def category(name, size, **more):
    return {"name": name, "kind": "categorical", "values": list(range(size)), **more}


def made():
    """town determines region; job nearly determines boss; sex and title depend; dice depends on nothing."""
    rng = np.random.default_rng(0)
    town, sex = rng.integers(0, 30, N), rng.integers(0, 2, N)
    job = rng.integers(0, 6, N)
    columns = {
        "town": town, "region": town // 10, "job": job,
        "boss": np.where(rng.random(N) < 0.99, job // 2, rng.integers(0, 3, N)),
        "sex": sex, "title": np.where(rng.random(N) < 0.8, sex, rng.integers(0, 3, N)),
        "age": rng.integers(0, 90, N), "dice": rng.integers(0, 6, N),
    }  # fmt: skip
    schema = Schema.of(
        {
            "version": 1,
            "name": "public",
            "attributes": [
                category("town", 30), category("region", 3), category("job", 6), category("boss", 3),
                category("sex", 2), category("title", 3),
                {"name": "age", "kind": "numeric", "dtype": "integer", "min": 0, "max": 89, "bins": {"count": 90}},
                category("dice", 6),
            ],
        }
    )  # fmt: skip
    return pa.table(columns), schema


def test_a_table_that_is_not_declared_public_is_refused_in_a_sentence():
    table, schema = made()
    with pytest.raises(InputError, match="public table only"):
        explore(table, schema, public=False)


def test_dependence_is_the_distance_from_the_product_of_both_columns():
    table, schema = made()
    found = explore(table, schema, public=True)
    by_pair = {d.pair: d for d in found.pairs}
    counts = np.zeros((2, 3))
    np.add.at(counts, (table["sex"].to_numpy(), table["title"].to_numpy()), 1)
    product = np.outer(counts.sum(1), counts.sum(0)) / N
    assert by_pair["sex", "title"].indif == pytest.approx(np.abs(counts - product).sum() / 2 / N)
    assert found.pairs[0].excess >= found.pairs[-1].excess
    assert len(found.pairs) == 28
    assert found.one_ways["dice"].sum() == N


def test_what_chance_does_to_independent_columns_is_known():
    table, schema = made()
    found = explore(table, schema, public=True)
    by_chance = next(d for d in found.pairs if d.pair == ("age", "dice"))
    assert by_chance.indif == pytest.approx(by_chance.by_chance, rel=0.15)  # 540 cells: a few per cent of spread


def test_hierarchies_near_functions_and_groups_are_proposed():
    table, schema = made()
    design = propose(explore(table, schema, public=True)).design
    assert [(h.general, h.detailed) for h in design.hierarchies] == [("region", "town")]
    assert design.hierarchies[0].codes == tuple(i // 10 for i in range(30))
    assert [(f.target, f.source) for f in design.functional] == [("boss", "job")]
    assert [g.attributes for g in design.groups] == [("sex", "title")]
    assert [b.attribute for b in design.bins] == ["age"]
    assert len(design.bins[0].edges) == 11


def test_independent_columns_are_listed_in_no_marginal():
    table, schema = made()
    design = propose(explore(table, schema, public=True)).design
    assert not any("dice" in s.attributes for m in design.marginals for s in m.sets)


def test_the_schema_takes_the_groups_over():
    table, schema = made()
    grouped = propose(explore(table, schema, public=True)).grouped_schema(schema)
    assert grouped["sex"].group == grouped["title"].group == "sex+title"
    assert grouped["dice"].group is None


def test_the_proposal_for_the_sample_is_a_design_that_the_method_takes():
    from dpsyn_core.privacy.budget import Budget
    from dpsyn_core.systems.base import Task

    schema = sample_schema()
    design = propose(explore(sample_table(), schema, public=True)).design
    assert design.marginals
    config = configure("dpsyn-2018", {"design": design.model_dump(mode="json", exclude_defaults=True)})
    for epsilon in (0.1, 1.0, 8.0):
        config.calibrate(Task.of(schema, Budget(epsilon=epsilon, delta=1e-9)))


def test_the_command_writes_design_and_schema_and_refuses_without_the_word_public(tmp_path, capsys):
    table, schema = made()
    from dpsyn_core.tables.write import write_table

    write_table(table, tmp_path / "p.csv")
    (tmp_path / "s.json").write_text(schema.dumps())
    base = ["explore", str(tmp_path / "p.csv"), "--schema", str(tmp_path / "s.json")]
    assert main(base) == 2
    assert "--public" in capsys.readouterr().err
    out = ["--design", str(tmp_path / "d.json"), "--groups", str(tmp_path / "g.json")]
    assert main([*base, "--public", *out]) == 0
    assert "town x region" in capsys.readouterr().out
    assert json.loads((tmp_path / "d.json").read_text())["hierarchies"][0]["general"] == "region"
    assert Schema.load(tmp_path / "g.json")["sex"].group == "sex+title"
    assert main([*base, "--public", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["pairs"]) == 28


def test_a_table_without_records_is_refused():
    table, schema = made()
    with pytest.raises(InputError, match="no records"):
        explore(table.slice(0, 0), schema, public=True)


def test_a_record_that_the_schema_does_not_describe_is_refused_and_not_left_out():
    table, schema = made()
    odd = table.set_column(table.column_names.index("dice"), "dice", pa.array([99, *[0] * (N - 1)]))
    with pytest.raises(InputError, match="dice"):
        explore(odd, schema, public=True)


def with_an_interaction():
    """c is a xor b for 9 of 10: no pair says anything of it. wage is higher where d is 1."""
    rng = np.random.default_rng(1)
    a, b, d = (rng.integers(0, 2, N) for _ in range(3))
    c = np.where(rng.random(N) < 0.9, a ^ b, rng.integers(0, 2, N))
    e = np.where(rng.random(N) < 0.6, a, d)  # what ties a and d to a pair, and leaves no interaction beside it
    f = np.where(rng.random(N) < 0.6, b, c)
    columns = {"a": a, "b": b, "c": c, "d": d, "e": e, "f": f, "wage": rng.integers(0, 50, N) + 30 * d}
    wage = {"name": "wage", "kind": "numeric", "dtype": "integer", "min": 0, "max": 79, "bins": {"count": 80}}
    schema = Schema.of({"version": 1, "name": "public", "attributes": [*(category(n, 2) for n in "abcdef"), wage]})
    return pa.table(columns), schema


def test_three_columns_that_no_pair_explains_are_the_first_interaction():
    table, schema = with_an_interaction()
    found = interactions(explore(table, schema, public=True))
    assert found[0].triple == ("a", "b", "c")
    assert found[0].distance == pytest.approx(0.45, abs=0.03)  # half of the records sit in the wrong half of a xor b
    plain = next(i for i in found if i.triple == ("a", "d", "wage"))
    assert plain.excess < 0.02


def test_questions_are_proposed_from_names_and_from_interactions():
    table, schema = with_an_interaction()
    asked = proposed_questions(explore(table, schema, public=True))
    asked.checked(schema)
    names = [q.name for q in asked.questions]
    assert "a x b x c" in names
    assert any("wage" in name for name in names)
    assert len(set(names)) == len(names)
    assert sum(q.kind == "table" and len(q.of) == 3 for q in asked.questions) <= 4


def test_the_command_writes_the_questions(tmp_path, capsys):
    table, schema = with_an_interaction()
    pq.write_table(table, tmp_path / "p.parquet")
    schema.dump(tmp_path / "s.json")
    arguments = ["explore", str(tmp_path / "p.parquet"), "--schema", str(tmp_path / "s.json"), "--public"]
    assert main([*arguments, "--questions", str(tmp_path / "q.json"), "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)["questions"]
    assert Questions.loads((tmp_path / "q.json").read_text()) == Questions.of(printed)
