"""What figures are drawn of: counts and shares of both tables, merged, sorted and scaled, by hand and by NumPy."""

from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest

from dpsyn_core.estimate import Coarsening, Measurement
from dpsyn_core.evaluate.loader import compare_tables
from dpsyn_core.report import build
from dpsyn_core.report.wording import ENGLISH
from dpsyn_core.schema.document import Schema

TOWNS = [f"town {chr(97 + i)}" for i in range(23)]
SCHEMA = Schema.of(
    {
        "version": 1,
        "name": "people",
        "attributes": [
            {"name": "sex", "kind": "categorical", "values": ["F", "M"]},
            {"name": "age", "kind": "numeric", "dtype": "integer", "min": 0, "max": 99},
            {"name": "town", "kind": "categorical", "values": TOWNS, "missing": True},
            {"name": "pay", "kind": "numeric", "dtype": "float", "min": 0, "max": 100, "bins": {"count": 4}},
        ],
    }
)


def table(n, seed):
    rng = np.random.default_rng(seed)
    odds = 1.0 + (np.arange(23) * 7 % 23)  # the commonest towns are scattered over the list
    town = [TOWNS[i] for i in rng.choice(23, n, p=odds / odds.sum())]
    town[: n // 10] = [None] * (n // 10)
    pay = np.where(rng.random(n) < 0.6, rng.uniform(30, 45, n), rng.uniform(0, 100, n)).round(2)
    return pa.table({
        "sex": rng.choice(["F", "M"], n), "age": [str(x) for x in rng.integers(0, 100, n)], "town": town,
        "pay": [str(x) for x in pay],
    })  # fmt: skip


REAL, SYNTHETIC = table(900, 1), table(600, 2)


@pytest.fixture(scope="module")
def c():
    return compare_tables(SCHEMA, SYNTHETIC, REAL)


@pytest.fixture
def drawn(monkeypatch):
    """Figures are what they are asked to show."""
    for name in (
        "overlay",
        "two_tables",
        "difference",
        "distribution",
        "range_scatter",
        "lorenz",
        "dots",
        "released_overlay",
    ):
        monkeypatch.setattr(
            build.figures, name, lambda *given, name=name, **more: SimpleNamespace(name=name, given=given, more=more)
        )


def counts(source, *columns):
    """How often values stand together."""
    rows = list(zip(*(source.column(x).to_pylist() for x in columns), strict=True))
    return {row: rows.count(row) for row in set(rows)}


def test_of_many_categories_the_commonest_stay_and_the_rest_is_one(c):
    recode, labels = build.coarse_map(c, c.domain["town"])
    of_real = counts(REAL, "town")
    commonest = sorted(TOWNS, key=lambda t: (-of_real.get((t,), 0), TOWNS.index(t)))[:18]
    assert labels[:18] == [t for t in TOWNS if t in commonest]
    assert labels[18] == ENGLISH["all_others"] and len(labels) == 20
    for code, name in enumerate(TOWNS):
        assert recode.map[code] == (labels.index(name) if name in commonest else 18)
    assert recode.map[23] == 19 and recode.size == 20
    a = SimpleNamespace(size=40, special=3, ordered=False)
    recode, _ = build.coarse(a, [*(f"v{chr(97 + i)}" for i in range(37)), *"xyz"], lambda: np.arange(40))
    assert recode.map[37:].tolist() == [17, 18, 19]


def test_of_many_numbers_neighbours_are_merged_evenly(c):
    recode, labels = build.coarse_map(c, c.domain["age"])
    sizes = np.bincount(recode.map)
    assert recode.size == len(labels) == 20 and set(sizes) == {5}
    assert labels[0].startswith("0") and labels[0].endswith("4") and (np.diff(recode.map) >= 0).all()
    few, same = build.coarse_map(c, c.domain["sex"])
    assert few.is_identity and same == ["F", "M"]


def test_exactly_as_many_values_as_fit_stay():
    a = SimpleNamespace(size=21, special=1, ordered=False)
    labels = [*"abcdefghijklmnopqrst", "none"]
    recode, named = build.coarse(a, labels, lambda: np.arange(21))
    assert len(named) == 20 and named[-2:] == [ENGLISH["all_others"], "none"]
    assert named[:18] == list("cdefghijklmnopqrst")
    a.size = 20
    recode, named = build.coarse(a, [*labels[:19], "none"], lambda: np.arange(20))
    assert recode.is_identity and len(named) == 20


def test_embedded_pairs_are_flat_counts_of_all_tables(c):
    again = compare_tables(SCHEMA, table(300, 5), REAL)
    made = build.pair_tables([c, again], [("sex", "pay")])
    assert made["sizes"] == [900, 600, 300]
    assert list(made["tables"]) == ["0|3"] and list(made["labels"]) == ["0", "3"]
    for flat, source in zip(made["tables"]["0|3"], (REAL, SYNTHETIC, table(300, 5)), strict=True):
        sought = np.zeros((2, 4))
        for (sex, pay), n in counts(source, "sex", "pay").items():
            sought["FM".index(sex), min(int(float(pay) // 25), 3)] += n
        assert flat == sought.ravel().tolist()


def test_the_fullest_bin_counts_where_it_holds_several_values(c):
    bins = np.bincount([min(int(float(x) // 25), 3) for x in REAL.column("pay").to_pylist()])
    assert build.fullest_bin(c, "pay") == bins.max() / 900
    assert build.fullest_bin(c, "sex") is None
    assert (
        build.fullest_bin(compare_tables(SCHEMA, SYNTHETIC, REAL.set_column(3, "pay", [["40.5"] * 900])), "pay") is None
    )
    a = SimpleNamespace(number=True, size=3, special=1)
    one = SimpleNamespace(domain=type("D", (), {"__getitem__": lambda *_: a, "index": lambda *_: 0})(),
                          real=np.array([[2, 2, 0, 1, 1]]), real_values={})  # fmt: skip
    assert build.fullest_bin(one, "x") == pytest.approx(2 / 3)
    one.real = np.array([[2, 2]])
    assert build.fullest_bin(one, "x") is None
    a.size = 2
    one.real = np.array([[0, 0]])
    assert build.fullest_bin(one, "x") is None
    a.size, one.real = 3, None
    assert build.fullest_bin(one, "x") is None


def score(**details):
    return SimpleNamespace(details=details, floor=details.get("floor"), sentence=details.get("sentence", "So."))


def test_matrices_and_differences_of_scores():
    made = score(marginals={"attributes": [("a", "c"), ("b", "c")], "tvd": [0.1, 0.3], "floor": [0.01, 0.02]})
    matrix = build.pair_matrix(made, ["a", "b", "c"])
    sought = np.array([[np.nan, np.nan, 0.1], [np.nan, np.nan, 0.3], [0.1, 0.3, np.nan]])
    assert np.array_equal(matrix, sought, equal_nan=True)
    assert build.pair_matrix(made, ["a", "b", "c"], "floor")[2, 1] == 0.02
    none = score(marginals={"attributes": [], "tvd": []})
    assert np.isnan(build.pair_matrix(none, ["a"])).all()
    by = [score(by_attribute={"a": 0.1, "b": 0.2}), score(by_attribute={"a": 0.3, "b": 0.0})]
    assert list(build.differences(by).items()) == [("a", 0.3), ("b", 0.2)]
    assert build.differences(by[:1]) == {"b": 0.2, "a": 0.1} and build.differences([]) == {}
    pairs = [(f"a{i}", "b") for i in range(build.ALL_UP_TO + 1)]
    assert build.embedded_pairs(pairs[:-1], np.zeros(len(pairs) - 1)) == pairs[:-1]
    off = np.arange(len(pairs)) * 7 % len(pairs) + 0.0
    worst = sorted(range(len(pairs)), key=lambda i: -off[i])[: build.WORST]
    assert build.embedded_pairs(pairs, off) == [pairs[i] for i in worst]


def test_the_column_furthest_beyond_a_fresh_sample():
    def one(*rows):
        names, off, floor = zip(*rows, strict=True)
        return score(marginals={"attributes": [(n,) for n in names], "tvd": off, "floor": floor})

    tables = {"x": one(("a", 0.5, 0.45), ("b", 0.2, 0.1)), "y": one(("a", 0.3, 0.25), ("c", 0.18, 0.06))}
    assert build.furthest(tables) == ("y", "c", 0.18, 0.06)
    assert build.furthest({}) is None


def test_shares_of_a_column_are_counts_over_the_records_of_each_table(c, drawn):
    found = build.column({"run": c}, "pay")
    name, labels, series, _ = found.given
    assert name == "pay" and len(labels) == 4 and list(series) == [ENGLISH["real"], "run"]
    for shares, source in zip(series.values(), (REAL, SYNTHETIC), strict=True):
        sought = np.bincount([min(int(float(x) // 25), 3) for x in source.column("pay").to_pylist()]) / source.num_rows
        assert np.allclose(shares, sought)
    assert len(build.column({"run": c}, "age").given[1]) == 100
    [panel] = build.panels({"run": c}, {"age": 0.25})
    assert (panel.name, panel.difference, len(panel.labels)) == ("age", 0.25, 20)
    assert panel.shares["run"].sum() == pytest.approx(1)


def test_a_profile_has_shares_of_every_column(c):
    panels = build.profile(SCHEMA, REAL, called="mine", beside={"other": SYNTHETIC})
    assert [p.name for p in panels] == ["sex", "age", "town", "pay"]
    assert [len(p.labels) for p in panels] == [2, 20, 20, 4]
    for p in panels:
        assert list(p.shares) == ["mine", "other"]
        assert all(s.sum() == pytest.approx(1) for s in p.shares.values())
    assert panels[0].shares["other"][0] == pytest.approx(counts(SYNTHETIC, "sex")["F",] / 600)


@pytest.mark.parametrize("names", [("sex", "pay"), ("pay", "sex")])
def test_both_tables_of_a_pair_are_shares_and_the_difference_is_synthetic_less_real(c, names, drawn):
    both, off = build.pair(c, *names)
    real, synthetic, rows, columns, named, _ = both.given
    assert named == names and (len(rows), len(columns)) == real.shape
    for shares, source in ((real, REAL), (synthetic, SYNTHETIC)):
        sought = np.zeros((2, 4))
        for (sex, pay), n in counts(source, "sex", "pay").items():
            sought["FM".index(sex), min(int(float(pay) // 25), 3)] += n / source.num_rows
        assert np.allclose(shares, sought if names[0] == "sex" else sought.T)
    assert np.allclose(off.given[0], synthetic - real) and off.given[3] == names


def test_curves_dots_and_marks_are_those_of_the_scores(drawn):
    spread = build.spread({"pairs": {"x": score(marginals={"tvd": [0.1, 0.2]}, floor=0.05)}})
    [(order, name, values, floor)] = spread.given[0]
    assert (order, name, values.tolist(), floor) == ("pairs", "x", [0.1, 0.2], 0.05)
    assert build.spread({}) is None
    got = build.ranges({"x": score(frequencies={"real": [0.1, 0], "synthetic": [0.2, 0.1]})}, 400).given
    assert (got[0].tolist(), got[1]["x"].tolist(), got[2]) == ([0.1, 0], [0.2, 0.1], 1 / 400)
    curve = {"real": np.array([0.0, 1]), "synthetic": np.array([0.0, 0.5])}
    got = build.incomes({"x": score(lorenz=curve, income="pay")}).given
    assert got[:3] == ([0.0, 1.0], {"x": [0.0, 0.5]}, "pay")


def test_groups_stand_by_their_real_value_the_forty_largest(drawn):
    rows = [
        {"group": f"g{i}", "gini_real": None if i == 3 else (i * 7 % 50) / 50, "gini_synthetic": i} for i in range(50)
    ]
    other = [r | {"gini_synthetic": -r["gini_synthetic"]} for r in rows if r["group"] != "g7"]
    found = build.groups({"x": score(groups=rows), "y": score(groups=other)}, "gini", title="t", tickformat=".2f")
    names, series = found.given
    ranked = sorted((r for r in rows if r["gini_real"] is not None), key=lambda r: -r["gini_real"])[:40]
    assert names == [r["group"] for r in ranked]
    assert series[ENGLISH["real"]] == [r["gini_real"] for r in ranked]
    assert series["x"] == [int(n[1:]) for n in names]
    assert series["y"] == [None if n == "g7" else -int(n[1:]) for n in names]
    assert found.more["caption"] == "x: So. y: So."
    assert (found.more["title"], found.more["tickformat"]) == ("t", ".2f")


@pytest.mark.parametrize(("task", "measure"), [("regression", "r2"), ("classification", "auroc")])
def test_models_are_measured_by_what_their_task_needs(task, measure, drawn):
    def trained(x):
        return {"tree": {"r2": x, "auroc": x + 0.1}}

    found = build.learning({"x": score(task=task, train_real=trained(0.5), train_synthetic=trained(0.25))}, title="t")
    names, series = found.given
    more = 0.1 if measure == "auroc" else 0
    real = f"trained on {ENGLISH['real']}"
    assert names == ["tree"] and series == {real: [0.5 + more], "trained on x": [0.25 + more]}
    assert found.more["caption"] == "So." and build.learning_measure({"task": task}) == measure


def test_released_one_ways_are_drawn_with_synthetic_counts_scaled_to_them(c, drawn):
    halves = Coarsening.of(np.array([0, 0, 1, 1]))

    def measured(name, cells, **more):
        return Measurement(attributes=(name,), values=np.arange(float(cells)), sigma=3.0, **more)

    tables = (
        Measurement(attributes=("sex", "pay"), values=np.zeros((2, 4)), sigma=1.0),
        measured("pay", 2, recodes={"pay": halves}), measured("sex", 2), measured("sex", 2), measured("town", 201),
    )  # fmt: skip
    made = SimpleNamespace(
        measurements=tables, m=c.m, synthetic_counter=c.synthetic_counter, words=c.words, domain=c.domain,
        date_units=c.date_units, synthetic_values=c.synthetic_values,
    )  # fmt: skip
    found = build.released(made, "run", score(n_estimate=900))
    assert list(found) == ["pay", "sex"]
    name, labels, values, half, series, _ = found["sex"].given
    assert (name, labels, values.tolist()) == ("sex", ["F", "M"], [0.0, 1.0])
    assert half == pytest.approx(1.96 * 3, rel=1e-3)
    assert series["run"].tolist() == pytest.approx([1.5 * counts(SYNTHETIC, "sex")[x,] for x in "FM"])
    assert found["pay"].given[1] == [c.words("pay")[0], c.words("pay")[2]]
    assert build.released(made, "run", None)["sex"].given[4]["run"].sum() == 600


def test_a_panel_without_a_difference_has_none_and_its_title_names_it_alone():
    from dpsyn_core.report.figures.overview import Panel, frame

    shares = {"mine": np.array([0.25, 0.75])}
    panels = [Panel(name="a", labels=["x", "y"], shares=shares, difference=d) for d in (None, 0.125)]
    made = frame(panels)
    assert made.difference.tolist() == [0.0, 0.0, 0.125, 0.125] and made.share.tolist() == [0.25, 0.75] * 2
    assert made.title.tolist() == ["a", "a", "a  12.5%", "a  12.5%"] and made.place.tolist() == [0, 0, 1, 1]
