"""Reading marginals off released ones, at whatever resolution they were measured."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

from dpsyn_core.errors import AgreementWarning, SchemaError, SettingError, TableError
from dpsyn_core.estimate.marginals import overlap
from dpsyn_core.estimate.marginals.coarsening import Coarsening, coarsen
from dpsyn_core.estimate.marginals.types import Measurement, project
from dpsyn_core.questions.answers import marginals
from dpsyn_core.questions.answers.marginals import Reader, ReadingSettings
from dpsyn_core.runs.further_marginals import as_table, read_marginals, release_marginals
from dpsyn_core.runs.spec import RunSpec
from dpsyn_core.schema.document import Schema
from dpsyn_core.schema.domain import CodedAttribute, Domain

DOMAIN = Domain(tuple(CodedAttribute(name=n, size=s) for n, s in {"a": 3, "b": 4, "c": 2, "d": 1}.items()))
PAIRS = ("ab", "bc", "ac")
RULES = ("maximum-entropy", "least-norm", "linear-program")
HALVES = Coarsening.of([0, 0, 1, 1])


def joint(seed=0):
    """A table of 1,200 records in which `a` and `c` tell nothing of each other once `b` is known."""
    rng = np.random.default_rng(seed)
    b = rng.dirichlet(np.ones(4))
    p = np.einsum("b,ba,bc->abc", b, rng.dirichlet(np.ones(3), 4), rng.dirichlet(np.ones(2), 4))
    return 1200 * p[..., None]


def table(names, *, sigma=1.0, recodes=None, values=None):
    exact = joint().sum(axis=tuple(i for i, n in enumerate("abcd") if n not in names))
    values = coarsen(exact, names, recodes or {}) if values is None else values
    return Measurement(attributes=tuple(names), values=values, sigma=sigma, recodes=recodes or {}, law="gaussian")


def reader(*tables, **settings):
    return Reader(tables, DOMAIN, ReadingSettings(**settings))


@pytest.mark.parametrize("rule", RULES)
def test_what_one_table_holds_is_read_off_it_whatever_the_rule(rule):
    got = reader(table("ab"), table("bc"), reconstruction=rule).read(["b", "a"])
    assert got.covered
    assert got.attributes == ("a", "b")
    assert got.values == pytest.approx(joint().sum(axis=(2, 3)))


def test_maximum_entropy_finds_the_table_whose_columns_depend_through_a_measured_one_alone():
    got = reader(table("ab"), table("bc")).read(["a", "b", "c"])
    assert not got.covered
    assert got.values == pytest.approx(joint()[..., 0], abs=1e-4)


@pytest.mark.parametrize("rule", RULES)
def test_every_rule_agrees_with_tables_of_coarse_values_and_of_all(rule):
    tables = [table("a"), table("b"), table("ab", recodes={"b": HALVES}), table("bc", recodes={"b": HALVES})]
    got = reader(*tables, reconstruction=rule).read(["a", "b", "c"])
    assert not got.covered
    exact = joint()[..., 0]
    assert got.values.sum(axis=(0, 2)) == pytest.approx(exact.sum(axis=(0, 2)), abs=0.1)
    for half in (0, 1):
        kept = half == HALVES.map
        assert got.values[:, kept].sum(axis=(1, 2)) == pytest.approx(exact[:, kept].sum(axis=(1, 2)), abs=0.1)
        assert got.values[:, kept].sum(axis=(0, 1)) == pytest.approx(exact[:, kept].sum(axis=(0, 1)), abs=0.1)


def test_inside_a_coarse_value_the_column_alone_decides_and_without_one_it_is_even():
    coarse = table("b", recodes={"b": HALVES})
    assert np.diff(reader(coarse).read(["b"]).values.reshape(2, 2), axis=1) == pytest.approx(0)
    both = reader(coarse, table("b", sigma=3.0)).read(["b"])
    assert both.values == pytest.approx(joint().sum(axis=(0, 2, 3)))


def test_tables_that_contradict_each_other_are_made_consistent_by_their_noise():
    rng = np.random.default_rng(3)
    sure, unsure = (table("ab", sigma=s) for s in (1.0, 30.0))
    noisy = [
        table("ab", sigma=1.0, values=sure.values + rng.normal(0, 1, (3, 4))),
        table("bc", sigma=30.0, values=table("bc").values + rng.normal(0, 30, (4, 2))),
        unsure,
    ]
    got = reader(*noisy).read(["b"]).values
    assert got == pytest.approx(joint().sum(axis=(0, 2, 3)), abs=8)


def test_a_marginal_says_by_how_much_released_tables_still_differ_and_nothing_where_they_agree(monkeypatch):
    rng = np.random.default_rng(5)
    noisy = [table(n, sigma=400.0, values=table(n).values + rng.normal(0, 400, table(n).values.shape)) for n in PAIRS]
    assert reader(*noisy).read(["a"]).apart == 0
    monkeypatch.setattr(overlap, "SCALINGS", 1)
    with pytest.warns(AgreementWarning):
        left = reader(*noisy, rounds=1).read(["a"])
    assert left.apart > overlap.APART


NAMES = "abcdefghijkl"
VIEWS = (NAMES[:8], NAMES[:4] + NAMES[8:], NAMES[4:])  # Example 1 of Li, Zhang, Wang 2021
THIRDS, OTHERS = Coarsening.of([0, 0, 1]), Coarsening.of([0, 1, 1])


def off(asked, read, recode=None):
    """The largest difference, in records, of marginals from larger ones that hold them; at coarse values if given."""
    found = {f.attributes: f.values for f in map(read.read, asked)}
    worst = 0.0
    for names, values in found.items():
        for more in (m for m in found if set(names) < set(m)):
            both = [project(found[more], more, names), values]
            if recode is not None:
                both = [coarsen(v, names, dict.fromkeys(names, recode)) for v in both]
            worst = max(worst, float(np.abs(both[0] - both[1]).max()))
    return worst


def coarse_views(sigma, *recodes, n=20_000):
    """The views of the example with every third column coarse, and one-ways of all three values."""
    rng = np.random.default_rng(0)
    codes = rng.choice(3, (12, n), p=(0.7, 0.2, 0.1))
    out = []
    for v, names in enumerate([*VIEWS, *NAMES]):
        maps = {x: recodes[v % len(recodes)] for x in names} if len(names) > 1 else {}
        rows = [maps[x].map[codes[NAMES.index(x)]] if x in maps else codes[NAMES.index(x)] for x in names]
        shape = [2 if x in maps else 3 for x in names]
        exact = np.bincount(np.ravel_multi_index(rows, shape), minlength=np.prod(shape)).reshape(shape)
        noise = np.rint(rng.normal(0, sigma, shape))
        out.append(Measurement(attributes=tuple(names), values=exact + noise, sigma=sigma, recodes=maps))
    return out, Domain(tuple(CodedAttribute(name=x, size=3) for x in NAMES))


@pytest.mark.parametrize("rule", ["norm_sub", "norm_cut", "ripple"])
@pytest.mark.parametrize("sigma", [20.0, 100.0, 400.0])
def test_marginals_of_coarse_views_of_the_example_agree_with_those_that_they_hold(rule, sigma):
    tables, domain = coarse_views(sigma, THIRDS)
    asked = ["a", "b", "e", "i", "ab", "ae", "ai", "be", "ei", "abe", "abi", "aei"]  # "aei" is in no view
    assert off(asked[:-1], Reader(tables, domain, ReadingSettings(nonnegativity=rule))) < 0.2
    assert off([*"aei", "aei"], Reader(tables, domain, ReadingSettings(nonnegativity=rule))) < 0.2


def test_tables_at_different_coarse_values_agree_and_above_a_number_of_cells_columns_do(monkeypatch):
    tables, domain = coarse_views(100.0, THIRDS, OTHERS)
    kept = [m for m in tables if len(m.attributes) == 1]
    for m, names in zip(tables, ("abc", "abd", "ae"), strict=False):
        values = m.values.sum(axis=tuple(i for i, n in enumerate(m.attributes) if n not in names))
        maps = {n: m.recodes[n] for n in names if n in m.attributes}
        kept.append(Measurement(attributes=tuple(maps), values=values, sigma=100.0 * 2**2.5, recodes=maps))
    read = Reader(kept, domain, ReadingSettings())
    assert off([*"abcd", "ab", "ac", "bc", "ad", "bd"], read) < 0.2
    assert off([*"abc", "ab", "abc"], read) < 0.2
    assert off([*"abd", "ab", "abd"], read) < 0.2
    assert off(["ac", "bc", "abc"], read, THIRDS) < 0.2  # inside a coarse value nothing says how two columns depend
    assert off(["ad", "bd", "abd"], read, OTHERS) < 0.2
    assert not read.read("abc").wide
    monkeypatch.setattr(marginals, "WHOLE", 0)
    wide = Reader(kept, domain, ReadingSettings())
    assert off([*"abcd", "abc"], wide) < 0.2
    assert wide.read("abc").wide and not wide.read("a").wide  # which stands beside the answer


def test_a_column_that_no_table_tells_apart_is_refused_and_not_made_up():
    one = table("bc", recodes={"b": Coarsening.of([0] * 4)})
    with pytest.raises(TableError, match=r"no released marginal holds 'b'.*of c, d"):
        reader(one).read(["b", "c"])
    with pytest.raises(TableError, match="no released marginals to read from"):
        reader()
    with pytest.raises(SchemaError, match="each of them once"):
        reader(one).read(["c", "c"])


def test_a_column_of_one_value_needs_no_table_of_its_own():
    assert reader(table("bc")).read(["c", "d"]).values.shape == (2, 1)


def test_the_order_of_tables_and_the_number_of_further_readings_change_nothing():
    tables = [table("ab", sigma=2.0), table("bc", sigma=1.0), table("a", sigma=4.0)]
    wanted = [["a", "c"], ["b"], ["a", "b", "c"]]
    first = reader(*tables)
    found = [first.read(w).values for w in wanted]
    for order in itertools.permutations(tables):
        again = reader(*order)
        for w, values in reversed(list(zip(wanted, found, strict=True))):
            assert again.read(w).values == pytest.approx(values, abs=1e-6)


def test_a_number_of_many_bins_keeps_its_own_labels(tmp_path):
    """Values from 60 to 119 were once published as 16 to 31: merged values stood under the labels of the first bins."""
    import pyarrow as pa

    from dpsyn_core.privacy.ledger.ledger import Ledger

    rng = np.random.default_rng(0)
    x = rng.integers(60, 120, 3000)
    schema = Schema.of(
        {"version": 1, "name": "t", "attributes": [
            {"name": "x", "kind": "numeric", "dtype": "integer", "min": 0, "max": 119, "bins": {"count": 120}},
            {"name": "y", "kind": "categorical", "values": ["a", "b"]},
        ]}
    )  # fmt: skip
    private = pa.table({"x": x.astype(str), "y": np.array(["a", "b"])[rng.integers(0, 2, 3000)]})
    ledger = Ledger(tmp_path / "ledger.sqlite3")
    spec = RunSpec(epsilon=10, delta=1e-6, method="priview")
    got = release_marginals(
        private, schema, [["x"]], spec, facts=spec.facts(schema, query_vouched=False), ledger=ledger
    )
    rows = as_table(got.found[0], schema).to_pylist()
    assert len(rows) == 120
    assert sum(r["count"] for r in rows if int(r["x"]) < 56) < 100
    assert sum(r["count"] for r in rows if int(r["x"]) >= 60) == pytest.approx(3000, abs=200)
    (again,) = read_marginals(got.released, schema, [["x"]])
    assert again.values == pytest.approx(got.found[0].values)
    assert len(ledger.entries("t")) == 1
    with pytest.raises(SettingError, match="unknown setting 'cover' of reading"):
        read_marginals(got.released, schema, [["x"]], settings={"cover": 2})


def test_the_noise_of_a_table_that_is_summed_or_spread_is_that_of_its_sums():
    made, fine = reader(table("ab")), table("abc", sigma=2.0)
    summed = made._onto(fine, ("a", "d"))
    assert summed.attributes == ("a",) and summed.sigma == pytest.approx(2.0 * 8**0.5)
    assert summed.values == pytest.approx(fine.values.sum(axis=(1, 2)))
    none = made._onto(fine, ("d",))
    assert none.attributes == () and none.sigma == pytest.approx(2.0 * 24**0.5)
    coarse = table("ab", sigma=2.0, recodes={"b": HALVES})
    shares = np.array([0.1, 0.3, 0.0, 0.6])
    spread = made._spread(coarse, {"b": shares})
    assert spread.recodes == {} and spread.sigma == pytest.approx(2.0 * (6 / 12) ** 0.5)
    parts = np.array([0.25, 0.75, 0.0, 1.0])
    assert spread.values == pytest.approx(coarse.values[:, [0, 0, 1, 1]] * parts)


def test_values_inside_a_coarse_one_are_shared_out_by_the_table_with_the_least_noise():
    made = reader(table("ab"))
    tables = [table("ab", sigma=1.0), table("b", sigma=1.7), table("bc", sigma=0.1, recodes={"b": HALVES})]
    tables[0] = replace(tables[0], values=tables[0].values + np.arange(4.0) * 50)
    expected = joint().sum(axis=(0, 2, 3))
    assert made._shares("b", tables) == pytest.approx(expected / expected.sum()), "the noise of three cells is larger"
    first = [tables[0], replace(tables[1], sigma=3**0.5)]
    shares = tables[0].values.sum(axis=0)
    assert made._shares("b", first) == pytest.approx(shares / shares.sum()), "of two as good the first"
    assert made._shares("b", tables[2:]) == pytest.approx(np.full(4, 0.25))
