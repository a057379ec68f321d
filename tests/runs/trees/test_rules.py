"""Rules across a link: declared in the schema, kept by every synthetic root, refused where they contradict."""

import numpy as np
import pyarrow as pa
import pytest

from benchmarks.linked_tables import census
from dpsyn_core.commands.cli import main
from dpsyn_core.errors import SchemaError
from dpsyn_core.runs.synthesis import synthesize
from dpsyn_core.runs.trees import release as release_of
from dpsyn_core.runs.trees.decoder import alike_of, decoded, kept
from dpsyn_core.runs.trees.rule_breaks import broken_roots
from dpsyn_core.schema.linked import LinkedSchema
from tests.runs.trees.small import listed, number, schema_of, tables
from tests.schema.helpers import num

HOME = [
    {"kind": "count", "where": "role = Head", "least": 1, "most": 1},
    {"kind": "count", "where": "age >= 18", "least": 1, "given": "age < 18"},
    {"kind": "order", "lower": "age", "upper": "Head.age", "apart": 15, "where": "role = Child"},
    {"kind": "order", "lower": "age", "upper": "Spouse.age", "strict": True, "where": "role = Child"},
    {"kind": "impossible", "where": "role = Head and age < 18"},
    {"kind": "impossible", "where": "households.income < 5000 and work = Employed"},
]


def ruled(schema, rules, **more):
    document = schema.document()
    document["links"][0]["rules"] = rules
    return LinkedSchema.of(document | more)


def made(schema, given, **more):
    return synthesize(given, schema, **({"epsilon": 1.0, "delta": 1e-6, "rng": 1, "settings": {"effort": 0.3}} | more))


def check_home(found):
    homes, persons = (found[n].to_pandas() for n in ("households", "persons"))
    assert set(persons["household_id"]) <= set(homes["household_id"]) and homes["household_id"].is_unique
    heads = persons[persons["role"] == "Head"].set_index("household_id")
    assert len(heads) == len(homes) and heads.index.is_unique
    grown = persons[persons["age"] >= 18].groupby("household_id").size()
    assert set(persons[persons["age"] < 18]["household_id"]) <= set(grown.index)
    child = persons[persons["role"] == "Child"]
    assert (child["age"].to_numpy() + 15 <= heads["age"].reindex(child["household_id"]).to_numpy()).all()
    spouse = persons[persons["role"] == "Spouse"].set_index("household_id")["age"].reindex(child["household_id"])
    assert not (child["age"].to_numpy() >= spouse.to_numpy()).any()
    assert (heads["age"] >= 18).all()
    income = homes.set_index("household_id")["income"].reindex(persons["household_id"]).to_numpy()
    assert not ((income < 5000) & (persons["work"] == "Employed").to_numpy()).any()


@pytest.mark.parametrize("epsilon", [0.05, 1.0])
def test_no_synthetic_household_breaks_a_rule_of_its_link(epsilon):
    shaped = census(3, 1500)
    schema = ruled(shaped.schema, HOME)
    release = made(schema, shaped.tables, epsilon=epsilon, n_records=1200)
    check_home(release.arrows)
    assert release.arrows["households"].num_rows == 1200
    assert all(b.parents == 0 for b in broken_roots(schema, release.arrows))
    real = {b.rule: b.parents for b in broken_roots(schema, shaped.tables)}
    assert real["exactly 1 with role = Head"] == 0 and real["age + 15 <= Head.age where role = Child"] >= 0
    free = made(shaped.schema, shaped.tables, epsilon=epsilon)
    assert any(b.parents for b in broken_roots(schema, free.arrows))  # so that the rules changed something


def test_schema_check_lists_rules_of_links_and_counts_the_roots_that_break_them(tmp_path, capsys):
    shaped = census(3, 200)
    (tmp_path / "s.json").write_text(ruled(shaped.schema, HOME).dumps())
    assert main(["schema", "check", str(tmp_path / "s.json")]) == 0
    assert "rule of the link to 'persons': exactly 1 with role = Head" in capsys.readouterr().out
    persons = shaped.tables["persons"].to_pandas()
    persons.loc[persons["role"] == "Head", "role"] = "Other"
    persons.to_csv(tmp_path / "persons.csv", index=False)
    shaped.tables["households"].to_pandas().to_csv(tmp_path / "households.csv", index=False)
    named = [f"--table={n}={tmp_path / n}.csv" for n in shaped.tables]
    assert main(["schema", "check", str(tmp_path / "s.json"), *named]) == 0
    assert "households > persons: 200 of 200 break 'exactly 1 with role = Head'" in capsys.readouterr().out
    bad = ruled(schema_of({}), CONTRADICTIONS["two counts"])
    (tmp_path / "bad.json").write_text(bad.dumps())
    assert main(["schema", "check", str(tmp_path / "bad.json")]) == 2


def test_without_rules_nothing_is_drawn_for_them():
    schema, given = schema_of({}), tables(200, 3, 1)
    first, second = (made(schema, given, rng=5) for _ in range(2))
    assert first.arrows["kids"].column_names == second.arrows["kids"].column_names


def test_a_value_never_falls_from_wave_to_wave_where_the_rule_says_so():
    schema = ruled(
        schema_of({"order": "t", "distinct": True}, child=(number("t", 5), number("y", 9)), theta=5),
        [{"kind": "order", "lower": "before.y", "upper": "y"}],
    )
    rng = np.random.default_rng(1)
    given = {"roots": pa.table({"id": np.arange(300), "a": (np.arange(300) % 2).astype(str)})}
    start = np.repeat(rng.integers(0, 5, 300), 5)
    given["kids"] = pa.table(
        {"root": np.repeat(np.arange(300), 5), "t": np.tile(np.arange(5), 300), "y": start + np.tile(np.arange(5), 300)}
    )
    found = made(schema, given).arrows["kids"].to_pandas()
    assert found.groupby("root")["y"].apply(lambda y: y.is_monotonic_increasing).all()
    assert found["y"].nunique() > 3
    assert not found.duplicated(["root", "t"]).any()


def date_like():
    """Children from `t` to `u`, begun after the root's `b`: a child that breaks a rule has to change two cells."""
    child = (listed("r", 3), number("t", 40), number("u", 44))
    schema = schema_of({}, root=(number("b", 20),), child=child, theta=8)
    document = schema.document()
    document["tables"][1]["schema"]["rules"] = [{"kind": "order", "lower": "t", "upper": "u", "strict": True}]
    document["links"][0]["rules"] = [{"kind": "order", "lower": "roots.b", "upper": "t", "strict": True}]
    rng = np.random.default_rng(1)
    of = np.repeat(np.arange(600), rng.integers(0, 9, 600))
    b = rng.integers(0, 20, 600)
    t = b[of] + 1 + np.minimum(rng.geometric(0.2, len(of)), 19)
    given = {
        "roots": pa.table({"id": np.arange(600), "b": b}),
        "kids": pa.table({"root": of, "r": rng.integers(0, 3, len(of)).astype(str), "t": t,
                          "u": t + rng.integers(1, 4, len(of))}),
    }  # fmt: skip
    return LinkedSchema.of(document), given


def test_children_are_mended_where_they_are_and_roots_keep_their_number_of_them(monkeypatch):
    schema, given = date_like()
    forests = []
    monkeypatch.setattr(release_of, "decoded", lambda one, *a, **k: forests.append(one) or decoded(one, *a, **k))
    release = made(schema, given)
    kids, roots = (release.arrows[n].to_pandas() for n in ("kids", "roots"))
    before = forests[0].children[0].counts
    here = kids.groupby("root").size().reindex(roots["id"], fill_value=0).to_numpy()
    assert (before == here).mean() > 0.97, "whole roots were exchanged"
    assert (kids["t"] < kids["u"]).all()
    begun = kids["t"] - roots.set_index("id")["b"].reindex(kids["root"]).to_numpy()
    assert (begun > 0).all() and (begun == 1).mean() < 0.4, "real .2, and children next to the end that is allowed"


def test_a_root_that_is_exchanged_has_as_many_children_as_the_one_in_its_place():
    rng = np.random.default_rng(3)
    sizes = rng.integers(0, 9, 500)
    bad = rng.random(500) < sizes / 10
    stands_in = sizes[alike_of(sizes, bad, rng)]
    assert (stands_in == sizes).mean() > 0.95 and len(set(alike_of(sizes, bad, rng)[bad])) > 50


def test_a_tiny_release_of_which_no_root_keeps_the_rules_takes_roots_of_the_schema_alone():
    schema = ruled(schema_of({}), [{"kind": "count", "where": "r = 2", "least": 3, "most": 3}])
    found = made(schema, tables(3, 1, 1), epsilon=0.01, n_records=4).arrows
    assert (found["kids"].to_pandas().query("r == '2' or r == 2").groupby("root").size() == 3).all()
    assert found["roots"].num_rows == 4 and len(set(found["kids"].column("root").to_pylist())) == 4


BAD = {
    "a column that is not there": ([{"kind": "order", "lower": "age", "upper": "t"}], "is no column that it can name"),
    "a sibling without a role": ([{"kind": "order", "lower": "Head.t", "upper": "t"}], "is no column that it can name"),
    "only columns of the parent": ([{"kind": "impossible", "where": "roots.a = 1"}], "none of the child's columns"),
    "a value that is not listed": ([{"kind": "count", "where": "r = 9", "least": 1}], "is no value of 'r'"),
    "neither least nor most": ([{"kind": "count", "where": "r = 1"}], "declare one of them"),
    "least above most": ([{"kind": "count", "where": "r = 1", "least": 2, "most": 1}], "make most larger"),
    "numbers that cannot be": (
        [{"kind": "order", "lower": "t", "upper": "roots.b", "apart": 99}],
        "no values can meet",
    ),
    "an unknown kind": ([{"kind": "sum", "column": "t", "parts": ["r", "t"]}], "links"),
}


@pytest.mark.parametrize("case", BAD)
def test_a_rule_that_does_not_fit_is_refused_in_one_sentence(case):
    rules, said = BAD[case]
    with pytest.raises(SchemaError, match=said) as error:
        ruled(schema_of({}, root=(listed("a", 2), number("b", 6))), rules)
    assert "\n" not in str(error.value)


CONTRADICTIONS = {
    "more than there may be": [{"kind": "count", "where": "r = 1", "least": 4}],
    "two counts": [
        {"kind": "count", "where": "r = 1", "least": 2, "most": 2}, {"kind": "count", "where": "r = 1", "most": 1},
        {"kind": "count", "where": "t >= 0", "least": 1},
    ],
    "every value": [{"kind": "impossible", "where": "t < 3"}, {"kind": "impossible", "where": "t >= 3"},
                    {"kind": "count", "where": "t >= 0", "least": 1}],
}  # fmt: skip


@pytest.mark.parametrize("case", CONTRADICTIONS)
def test_rules_that_contradict_each_other_are_refused_before_anything_is_charged(case, tmp_path):
    with pytest.raises(SchemaError, match=r"no number of children|contradict"):
        made(ruled(schema_of({}), CONTRADICTIONS[case]), tables(20, 3, 1))
    assert not list((tmp_path / "home").glob("**/*.sqlite*"))


def test_children_that_break_an_order_exchange_cells_so_that_the_column_keeps_its_counts():
    """Orders before the customer joined, moved away from that day alone, would all become later ones."""
    rng = np.random.default_rng(8)
    tables = [
        {"name": "p", "key": "id", "schema": {"version": 1, "name": "p", "attributes": [num("since", 0, 99, 100)]}},
        {"name": "c", "schema": {"version": 1, "name": "c", "attributes": [num("day", 0, 199, 200)]}},
    ]
    rule = {"kind": "order", "lower": "p.since", "upper": "day"}
    link = {"parent": "p", "child": "c", "key": "id", "max_children": 3, "rules": [rule]}
    schema = LinkedSchema.of({"version": 2, "name": "t", "tables": tables, "links": [link]})
    since, of = rng.integers(0, 100, 2000), np.repeat(np.arange(2000), 2)
    day = rng.integers(0, 200, len(of))
    assert (day < since[of]).mean() > 0.2
    given = {"p": pa.table({"id": np.arange(1, 2001), "since": since}), "c": pa.table({"id": of + 1, "day": day})}
    got = kept(given, schema, {n: tuple(t.column_names) for n, t in given.items()}, rng)
    made = got["c"].column("day").to_numpy()
    at = got["p"].column("since").to_numpy()[got["c"].column("id").to_numpy() - 1]
    assert (at <= made).all()
    assert abs(made.mean() - day.mean()) < 2, "moved away alone, 125"
