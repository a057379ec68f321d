"""Linked tables that are counted from disk, part by part: the same forests, counts and releases as in memory."""

import numpy as np
import pyarrow as pa
import pytest

import dpsyn_core.runs.open as opened
import dpsyn_core.runs.trees.release as release_of
from dpsyn_core.errors import SizeError, TableError
from dpsyn_core.runs.synthesis import synthesize
from dpsyn_core.runs.trees import bounding, real_tables
from dpsyn_core.runs.trees.bounding import bounded
from dpsyn_core.runs.trees.chunks import parts_of, roots_at_once
from dpsyn_core.runs.trees.keys import check_keys
from dpsyn_core.runs.trees.real_tables import RealForests, root_domain, stored_forests
from dpsyn_core.runs.trees.stages import stages_of
from dpsyn_core.tables.batches import of_table
from tests.runs.trees.small import DEEP, KEY, SCHEMAS, grown, tables
from tests.seeded import SeededNoise


def batches(given, rows=7):
    """The same tables in batches of a few rows, their text as dictionaries."""
    out = {}
    for name, table in given.items():
        found = of_table(table)
        cut = [table.slice(i, rows) for i in range(0, table.num_rows, rows)]
        made = [t.set_column(0, t.column_names[0], t.column(0).dictionary_encode()) for t in cut]
        out[name] = type(found)(columns=found.columns, read=lambda made=made: iter(made), records=found.records)
    return out


def wild(given, seed=0):
    """The same tables with keys that are blank, repeated, of nobody, and written as numbers with a fraction."""
    rng, out = np.random.default_rng(seed), {}
    for name, table in given.items():
        frame = table.to_pandas()
        for key in [c for c in frame.columns if c in ("id", "root", "kid", "of")]:
            drawn = rng.random(len(frame))
            frame.loc[drawn < 0.05, key] = None
            frame.loc[(drawn > 0.05) & (drawn < 0.1), key] = "nobody"
            some = (drawn > 0.8) & frame[key].astype(str).str.isdigit()
            frame.loc[some, key] = frame.loc[some, key] + ".0"
        again = frame.sample(frac=0.1, random_state=seed)
        out[name] = pa.Table.from_pandas(
            type(frame)(np.concatenate([frame, again]), columns=frame.columns), preserve_index=False
        )
    return out


def counted(real, schema):
    """Every table of one or two columns that a run could count."""
    domain = root_domain(schema)
    found = [real.roots.marginals(domain.subsets(2) if len(domain) > 1 else domain.singletons())]
    for stage in stages_of(schema):
        for view, counter in (
            (stage.view, real.children(stage)),
            (stage.siblings, stage.siblings and real.siblings(stage, stage.siblings)),
        ):
            if view is not None:
                found.append(counter.marginals([*view.domain.singletons(), *view.pairs]))
    return [t for tables in found for t in tables]


CASES = [(name, schema, tables(60, 5, 3)) for name, schema in SCHEMAS.items()]
CASES += [(f"deep {name}", schema, grown(40, 3, 5)) for name, schema in DEEP.items()]
CASES += [("deep with names that several have", DEEP["roles"], grown(40, 3, 5, shared=True))]


@pytest.mark.parametrize(("name", "schema", "given"), CASES, ids=[c[0] for c in CASES])
def test_counts_from_disk_are_those_in_memory(name, schema, given):
    for messy in (given, wild(given)):
        forest, _ = bounded(schema, messy, key=KEY)
        want = counted(RealForests.whole(forest, schema), schema)
        for parts in (1, 5):
            with stored_forests(schema, batches(messy), parts=parts, key=KEY) as real:
                found = counted(real, schema)
            assert len(found) == len(want) and all((a == b).all() for a, b in zip(found, want, strict=True))


def seeded(monkeypatch, parts, at_once=10**6):
    """Noise from a seed and one key, so that runs can be compared."""
    monkeypatch.setattr(opened, "SystemNoise", lambda: SeededNoise(5))
    monkeypatch.setattr(bounding, "draw_key", lambda: KEY)
    monkeypatch.setattr(real_tables, "draw_key", lambda: KEY)
    monkeypatch.setattr(release_of, "parts_of", lambda *_: parts)
    monkeypatch.setattr(release_of, "roots_at_once", lambda *_: at_once)


@pytest.mark.parametrize("at_once", [10**6, 120], ids=["in one part", "in parts"])
@pytest.mark.parametrize("name", ["plain", "roles", "ordered", "deep"])
def test_a_release_counted_from_disk_is_that_counted_in_memory(monkeypatch, name, at_once):
    schema, given = (DEEP["roles"], grown(200, 3, 5)) if name == "deep" else (SCHEMAS[name], tables(300, 4, 3))
    made = []
    for parts, own in ((None, given), (6, batches(given, 50))):
        seeded(monkeypatch, parts, at_once)
        made.append(synthesize(own, schema, epsilon=2.0, delta=1e-6, rng=1))
    assert made[0].manifest.charges == made[1].manifest.charges
    assert all(made[0].arrows[n].equals(made[1].arrows[n]) for n in given)


@pytest.mark.parametrize("name", ["roles", "deep"])
def test_tables_made_in_parts_hang_together(monkeypatch, name):
    schema, given = (DEEP["roles"], grown(900, 3, 5)) if name == "deep" else (SCHEMAS[name], tables(900, 4, 3))
    seeded(monkeypatch, 4, 200)
    made = synthesize(batches(given, 300), schema, epsilon=50.0, delta=1e-6, rng=1)
    root = made.arrows["roots"]
    assert abs(root.num_rows - 900) < 30
    assert sorted(root.column("id").to_pylist()) == list(range(1, root.num_rows + 1))
    assert all(k.hold for k in check_keys(schema, made.arrows))
    kids, real = (t["kids"].column("r").to_pandas().astype(str).value_counts() / t["roots"].num_rows
                  for t in (made.arrows, given))  # fmt: skip
    assert (kids - real).abs().max() < 0.25


def test_what_has_no_place_is_refused_before_anything_is_charged(monkeypatch):
    schema, given = SCHEMAS["plain"], tables(20, 4, 3)
    seeded(monkeypatch, 4, 200)
    with pytest.raises(TableError, match=r"table 'kids'.*'t'"):
        synthesize(batches(given | {"kids": given["kids"].drop(["t"])}), schema, epsilon=1, delta=1e-6, rng=1)
    said = []
    for parts, own in ((None, wild(given)), (4, batches(wild(given)))):
        seeded(monkeypatch, parts)
        with pytest.raises(TableError, match="have no key") as refused:
            synthesize(own, schema, epsilon=1, delta=1e-6, rng=1, strict=True)
        said.append(str(refused.value))
    assert said[0] == said[1], "numbers of all parts together"
    asked = [{"about": "roots", "ask": {"name": "a", "kind": "table", "of": ["a"]}}]
    with pytest.raises(SizeError, match="leave the questions out"):
        synthesize(batches(given), schema, epsilon=1, delta=1e-6, rng=1, questions=asked)


def test_only_tables_that_do_not_fit_are_read_in_parts():
    schema, given = SCHEMAS["plain"], tables(20, 4, 3)
    assert parts_of(given, schema, 10**9) is None
    assert parts_of(batches(given), schema, 10**9) is None
    large = {n: type(b)(columns=b.columns, read=b.read, records=10**8) for n, b in batches(given).items()}
    found = parts_of(large, schema, 10**9)
    assert found is not None and 4 <= found <= 256
    assert parts_of(large, schema, 10**12) is None
    assert parts_of(large | {"roots": given["roots"]}, schema, 10**9) is None


def test_how_many_roots_are_made_at_a_time_follows_from_schema_and_memory_alone():
    """What is made at a time changes what comes out, so that the size of the private tables must not decide it."""
    schema = SCHEMAS["plain"]
    assert roots_at_once(schema, 10**6) == 10_000
    assert roots_at_once(schema, None) == roots_at_once(schema, 8 * 10**9) > roots_at_once(schema, 10**9) > 10_000
