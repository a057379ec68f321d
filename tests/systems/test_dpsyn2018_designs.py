"""DPSyn 2018: what a design may ask for beyond groups, bins and sets: weights, budgets, shared dates, lifting."""

import json
from pathlib import Path

import numpy as np
import pytest

from benchmarks import deep, designs
from benchmarks.designs import described, design_for_file
from benchmarks.process import Cost
from dpsyn_core.data import worked_design
from dpsyn_core.errors import SettingError
from dpsyn_core.privacy.budget import Budget
from dpsyn_core.privacy.unit import Unit
from dpsyn_core.schema.codec import Codec
from dpsyn_core.schema.domain import CodedAttribute, Domain
from dpsyn_core.schema.sample import sample_schema, sample_table, write_sample
from dpsyn_core.systems.base import Task
from dpsyn_core.systems.others.dpsyn2018.design import Bins, Design, check_at_every_budget
from dpsyn_core.systems.others.dpsyn2018.lifting import lift, resolve
from dpsyn_core.systems.others.dpsyn2018.work_tables import bins_of, working_attributes
from dpsyn_core.systems.registry import configure
from tests.systems.harness import random_codes, run, task_for
from tests.systems.test_dpsyn2018 import SIZES, go, noiseless


def charges(codes, domain, design, **settings):
    """Names and noise scales of all releases."""
    budget = Budget(epsilon=settings.pop("epsilon", 5.0), delta=settings.pop("delta", 1e-6))
    task = Task(domain=domain, unit=Unit(), budget=budget)
    _, gate, _ = run("dpsyn-2018", task, codes, settings={"design": design, **settings}, n_records=10)
    return {c.name: c.scale for c in gate.account.charges}


@pytest.mark.parametrize(("delta", "power"), [(0.01, 0.5), (1e-9, 1.0)])
def test_a_heavier_set_gets_less_noise_in_proportion_and_the_budget_stays(delta, power):
    """Gaussian noise falls with the root of the weight, Laplace noise with the weight."""
    domain = task_for("dpsyn-2018", SIZES, 1).domain
    listed = [["a", "b"], {"attributes": ["b", "c"], "weight": 4}, {"attributes": ["d", "e"], "weight": 0.25}]
    design = {"marginals": [{"epsilon": 0, "sets": listed}]}
    found = charges(random_codes(SIZES, 500), domain, design, delta=delta)
    one, heavy, light = (found[f"marginal {n}"] for n in ("a x b", "b x c", "d x e"))
    assert heavy == pytest.approx(one / 4**power) and light == pytest.approx(4**power * one)
    assert found["marginal a"] == pytest.approx(one)  # a one-way has weight 1
    task = Task(domain=domain, unit=Unit(), budget=Budget(epsilon=5.0, delta=delta))
    cost = configure("dpsyn-2018", {"design": design}).calibrate(task).cost
    assert cost.pure == (power == 1.0)
    spent = sum(1 / s if cost.pure else 1 / (2 * s**2) for s in found.values())
    assert spent == pytest.approx(cost.epsilon if cost.pure else cost.rho)


def test_weights_are_written_as_they_were_read():
    text = '{"marginals":[{"epsilon":0.0,"sets":[["a","b"],{"attributes":["b","c"],"weight":2.0}]}]}'
    assert Design.model_validate_json(text).model_dump_json(exclude_defaults=True) == text


def test_bins_can_have_edges_or_any_codes():
    attribute = CodedAttribute(name="x", size=8, ordered=True, special=2)
    assert bins_of(attribute, Bins(attribute="x", edges=(1, 4))).map.tolist() == [0, 1, 1, 1, 2, 2, 3, 4]
    codes = (0, 1, 0, 1, 0, 1, 2, 2)
    assert bins_of(attribute, Bins(attribute="x", codes=codes)).map.tolist() == list(codes)
    rng = np.random.default_rng(0)
    age = rng.integers(0, 40, 6000)
    codes = np.stack([age, age % 2]).astype(np.uint8)
    design = {"bins": [{"attribute": "age", "codes": [i % 2 for i in range(40)]}]}
    out, _, system = noiseless(codes, Domain.of({"age": 40, "odd": 2}), design=design, n_records=6000)
    assert system.working["age"].size == 2
    assert (out[0] % 2 == out[1]).mean() > 0.97


DATES = Domain(
    (CodedAttribute(name="from", size=31, ordered=True, special=1),
     CodedAttribute(name="to", size=31, ordered=True, special=1), CodedAttribute(name="x", size=2))
)  # fmt: skip


def synchronous(n, seed=0):
    """Two dates that are equal wherever both are there; the second is there for half of those that have the first."""
    rng = np.random.default_rng(seed)
    day = np.minimum(rng.integers(0, 30, n), rng.integers(0, 30, n))
    first, second = rng.random(n) < 0.8, rng.random(n) < 0.5
    to = np.where(first & second, day, 30)
    return np.stack([np.where(first, day, 30), to, day > 9]).astype(np.uint8)


def equal_share(out):
    both = (out[0] < 30) & (out[1] < 30)
    assert both.sum() > 0.3 * out.shape[1]
    return (out[0] == out[1])[both].mean()


def test_dates_that_are_equal_wherever_both_are_there_stay_equal():
    codes = synchronous(9000)
    pattern = {"name": "dates", "attributes": ["from", "to"]}
    out, _, _ = noiseless(codes, DATES, design={"patterns": [pattern]}, n_records=9000)
    assert equal_share(out) < 0.1  # each follows its own one-way
    out, names, _ = noiseless(codes, DATES, design={"patterns": [pattern | {"shared": True}]}, n_records=9000)
    assert equal_share(out) == 1.0
    assert names[:4] == ["marginal from", "marginal to", "marginal x", "marginal from x to"]
    for row in (0, 1):
        truth, got = np.bincount(codes[row], minlength=31), np.bincount(out[row], minlength=31)
        assert np.abs(truth - got).sum() < 0.03 * 9000
    noisy, _, _ = go(codes, DATES, design={"patterns": [pattern | {"shared": True}]}, epsilon=1.0)
    assert equal_share(noisy) == 1.0


def test_a_pattern_may_keep_a_hierarchy_on_one_of_its_attributes():
    codes = synchronous(9000)
    for shared in (False, True):
        design = {
            "patterns": [{"name": "dates", "attributes": ["from", "to"], "shared": shared}],
            "bins": [{"attribute": "from", "width": 10}],
        }
        out, _, system = noiseless(codes, DATES, design=design, n_records=9000)
        assert system.working["dates"].sizes == (4, 2)
        there = out[0] < 30
        assert ((out[0] > 9) == (out[2] == 1))[there].mean() > 0.97  # the dependence on x lives in the bins
        assert equal_share(out) == 1.0 if shared else equal_share(out) < 0.3


def test_dates_of_different_ranges_cannot_share_a_value():
    domain = Domain.of({"a": 4, "b": 5})
    design = {"patterns": [{"name": "p", "attributes": ["a", "b"], "shared": True}]}
    with pytest.raises(SettingError, match="different values"):
        configure("dpsyn-2018", {"design": design}).calibrate(
            Task(domain=domain, unit=Unit(), budget=Budget(epsilon=1, delta=1e-6))
        )


def test_groups_bins_and_sets_may_differ_by_budget():
    design = {
        "groups": [{"name": "ab", "attributes": ["a", "b"]}],
        "bins": [{"attribute": "d", "width": 10}],
        "marginals": [{"epsilon": 0, "sets": [["ab", "d"]]}],
        "budgets": [
            {"epsilon": 1, "groups": [], "sets": [["a", "b", "d"]]},
            {"epsilon": 4, "bins": [{"attribute": "d", "edges": [2, 9]}], "one_ways": ["d"], "unmeasured": ["e"],
             "sets": [["ab", "c"], ["d", "c"]]},
        ],
    }  # fmt: skip
    domain, codes = task_for("dpsyn-2018", SIZES, 1).domain, random_codes(SIZES, 500)
    found = {e: list(charges(codes, domain, design, epsilon=e)) for e in (0.3, 1.0, 4.0)}
    assert found[0.3][-2:] == ["marginal a x b", "marginal a x b x d"]  # the group, then the set
    assert found[1.0] == [*(f"marginal {n}" for n in "abcde"), "marginal a x b x d"]
    assert found[4.0] == ["marginal d", "marginal a x b x c", "marginal c x d"]
    made = {e: configure("dpsyn-2018", {"design": design}).calibrate(task_for("dpsyn-2018", SIZES, 1, epsilon=e))
            for e in (0.3, 1.0, 4.0)}  # fmt: skip
    assert [made[e].working["d"].size for e in (0.3, 1.0, 4.0)] == [3, 3, 3]
    assert made[4.0].working["d"].maps["d"].map.tolist() == [0] * 2 + [1] * 7 + [2] * 21
    assert "ab" in made[0.3].working and "ab" not in made[1.0].working


def test_a_design_is_checked_at_every_budget():
    design = {"budgets": [{"epsilon": 5, "groups": [{"name": "g", "attributes": ["a", "nothing"]}]}]}
    with pytest.raises(SettingError, match="unknown attribute 'nothing'"):
        configure("dpsyn-2018", {"design": design}).calibrate(task_for("dpsyn-2018", SIZES, 10, epsilon=1.0))


def test_an_attribute_may_stand_in_a_group_and_alone():
    """X and Y are grouped, for they depend on each other; each is also measured with Z and W alone."""
    rng = np.random.default_rng(0)
    n = 8000
    x = rng.integers(0, 6, n)
    y = np.where(rng.random(n) < 0.7, x, rng.integers(0, 6, n))
    codes = np.stack([x, y, x % 3, y // 2]).astype(np.uint8)
    domain = Domain.of({"x": 6, "y": 6, "z": 3, "w": 3})
    design = {
        "groups": [{"name": "xy", "attributes": ["x", "y"]}],
        "marginals": [{"epsilon": 0, "sets": [["x", "z"], ["y", "w"]]}],
    }
    out, names, _ = noiseless(codes, domain, design=design, n_records=n)
    assert names[-2:] == ["marginal x x z", "marginal y x w"]
    assert (out[2] == out[0] % 3).mean() > 0.97 and (out[3] == out[1] // 2).mean() > 0.97
    assert abs((out[0] == out[1]).mean() - (x == y).mean()) < 0.02


def test_worked_example_of_a_lifted_marginal():
    """XY of 6, 2, 2, 6 records; Z with X: rows (6, 2) and (1, 7). Given X, Y is as the group says: 3 to 1."""
    domain = Domain.of({"x": 2, "y": 2, "z": 2})
    design = Design(groups=({"name": "xy", "attributes": ("x", "y")},))
    working = {w.name: w for w in working_attributes(domain, design)}
    from dpsyn_core.estimate.marginals.types import Measurement

    s = resolve(["z", "x"], 1.0, working)
    assert (s.whole, s.members, [w.name for w in s.parts]) == (("xy", "z"), (("x",), ()), ["x", "z"])
    m = Measurement(attributes=("x", "z"), values=np.array([[6.0, 2.0], [1.0, 7.0]]), sigma=1.0)
    one_way = {"xy": np.array([6.0, 2.0, 2.0, 6.0])}
    (got,) = lift([(m, s)], working, one_way, {})
    assert got.attributes == ("xy", "z")
    assert got.values == pytest.approx(np.array([[4.5, 1.5], [1.5, 0.5], [0.25, 1.75], [0.75, 5.25]]), abs=1e-6)
    # Y with Z as well: the table agrees with both
    other = resolve(["y", "z"], 1.0, working)
    second = Measurement(attributes=("y", "z"), values=np.array([[5.0, 3.0], [2.0, 6.0]]), sigma=1.0)
    (both,) = lift([(m, s), (second, other)], working, one_way, {})
    cube = both.values.reshape(2, 2, 2)
    assert cube.sum(axis=1) == pytest.approx(m.values, abs=1e-3)
    assert cube.sum(axis=0) == pytest.approx(second.values, abs=1e-3)


def test_unmeasured_attributes_get_random_values_and_cost_nothing():
    domain, codes = task_for("dpsyn-2018", SIZES, 1).domain, random_codes(SIZES, 3000)
    design = {"unmeasured": ["d", "e"], "marginals": [{"epsilon": 0, "sets": [["a", "b"]]}]}
    out, names, _ = go(codes, domain, design=design, n_records=6000)
    assert names == ["marginal a", "marginal b", "marginal c", "marginal a x b"]
    assert np.bincount(out[3], minlength=30) == pytest.approx(np.full(30, 200), abs=90)
    assert np.abs(np.corrcoef(out[3], out[4])[0, 1]) < 0.05


def test_one_ways_are_measured_only_where_they_are_asked_for():
    domain, codes = task_for("dpsyn-2018", SIZES, 1).domain, random_codes(SIZES, 3000)
    listed = [{"epsilon": 0, "sets": [["a", "b"], ["c", "d", "e"]]}]
    found = charges(codes, domain, {"one_ways": [], "marginals": listed})
    assert list(found) == ["marginal a x b", "marginal c x d x e"]
    assert list(charges(codes, domain, {"one_ways": ["d"], "marginals": listed})) == ["marginal d", *found]
    out, _, _ = noiseless(codes, domain, design={"one_ways": [], "marginals": listed}, n_records=3000)
    assert np.abs(np.bincount(out[2], minlength=4) - np.bincount(codes[2], minlength=4)).max() < 60


@pytest.mark.parametrize(
    ("design", "message"),
    [
        ({"unmeasured": ["nothing"]}, "unknown attribute 'nothing'"),
        ({"unmeasured": ["a"], "groups": [{"name": "g", "attributes": ["a", "b"]}]}, "used twice"),
        ({"one_ways": ["a"], "marginals": [{"epsilon": 0, "sets": [["a", "b"]]}]}, "nothing is measured of c, d, e"),
        ({"one_ways": ["x"]}, "'x' cannot have a one-way"),
        ({"bins": [{"attribute": "d"}]}, "exactly one of width, edges and codes"),
        ({"bins": [{"attribute": "d", "width": 2, "edges": [3]}]}, "exactly one of"),
        ({"bins": [{"attribute": "d", "edges": [3, 2]}]}, "must rise"),
        ({"bins": [{"attribute": "d", "edges": [30]}]}, "must be below 30"),
        ({"bins": [{"attribute": "a", "codes": [0, 2, 1, 0]}]}, "need 3 codes"),
        ({"bins": [{"attribute": "a", "codes": [0, 2, 0]}]}, "every bin"),
        ({"bins": [{"attribute": "d", "width": 2}, {"attribute": "d", "width": 3}]}, "binned twice"),
        ({"groups": [{"name": "g", "attributes": ["a", "b"]}],
          "marginals": [{"epsilon": 0, "sets": [["g", "a"]]}]}, "names an attribute twice"),
        ({"marginals": [{"epsilon": 0, "sets": [{"attributes": ["a", "b"], "weight": 0}]}]}, "greater than 0"),
    ],
)  # fmt: skip
def test_mistakes_in_the_newer_parts_of_a_design_are_named_too(design, message):
    with pytest.raises(SettingError, match=message):
        configure("dpsyn-2018", {"design": design}).calibrate(task_for("dpsyn-2018", SIZES, 10))


# Table 1 of Li, Zhang, Wang 2021, in its order
FIRE_COLUMNS = """
ALS Unit, Final Priority, Call Type Group, Original Priority, Priority, City, Unit Type, Fire Prevention District,
Battalion, Supervisor District, Call Final Disposition, Call Type, Zipcode of Incident, Neighborhood District,
Station Area, Watch Date, Received DtTm, Entry DtTm, Dispatch DtTm, Response DtTm, On Scene DtTm, Transport DtTm,
Hospital DtTm, Location-lng, Number of Alarms, Available DtTm, Unit sequence, Location-lat, Call Date, Unit ID, Box,
Address
"""
COORDINATES = {"Location-lng", "Location-lat"}


def test_the_simulated_calls_have_the_columns_of_the_document():
    columns = [name.strip() for name in FIRE_COLUMNS.split(",")]
    assert len(columns) == 32
    assert set(sample_schema("firecalls").domain().names) == set(columns)


@pytest.mark.parametrize("epsilon", [0.1, 0.3, 1.0, 3.0, 8.0, 10.0])
def test_groups_and_places_of_the_worked_design_are_those_of_section_5_3(epsilon):
    schema = sample_schema("firecalls")
    whole = Design.model_validate(worked_design("firecalls"))
    check_at_every_budget(whole, schema.domain())
    design = whole.at(epsilon)
    groups = {g.name: set(g.attributes) for g in design.groups}
    assert groups["Unit_Info"] == {"ALS Unit", "Unit Type"}
    assert groups["Call_Type_Info"] == {"Call Type Group", "Call Type"}
    assert groups["Priority_Info"] == {"Final Priority", "Original Priority", "Priority"}
    (dates,) = design.patterns
    assert dates.shared and len(dates.attributes) == 10
    assert all(n.endswith(("DtTm", "Date")) for n in dates.attributes)
    sets = [set(s.attributes) for s in design.sets_for(epsilon)]
    with_coordinates = [s - COORDINATES for s in sets if s & COORDINATES]
    if epsilon < 1:  # one-ways alone, and random boxes and addresses
        assert not with_coordinates and set(design.unmeasured) == {"Box", "Address"}
    elif epsilon < 4:  # joined with other places
        assert {"Station Area"} in with_coordinates and set(design.unmeasured) == {"Box", "Address"}
    else:  # both as one attribute, with box and address
        assert groups["Place"] == COORDINATES and not design.unmeasured
        assert {"Place", "Box"} in sets and {"Place", "Address"} in sets
    assert design.one_ways is None


def test_for_the_tables_of_the_challenge_the_designs_name_columns_and_no_codes():
    """`benchmarks.designs --file`: the census has 98 columns of the published specification."""
    domain = sample_schema("census98").domain()
    census = design_for_file(worked_design("census98"), domain.names)
    assert "hierarchies" not in census and all("width" in b for b in census["bins"])
    assert {"target": "RACE", "source": "RACED"} in census["functional"]
    check_at_every_budget(Design.model_validate(census), domain)
    calls = sample_schema("firecalls").domain()
    whole = design_for_file(worked_design("firecalls"), calls.names)
    assert [whole[k] for k in ("groups", "patterns", "functional", "marginals")] == [
        worked_design("firecalls")[k] for k in ("groups", "patterns", "functional", "marginals")
    ]
    check_at_every_budget(Design.model_validate(whole), calls)


@pytest.mark.parametrize("name", ["firecalls", "census98"])
def test_a_design_goes_over_the_columns_that_a_schema_has(name):
    """A draft from the calls of the challenge has no Address, which has 17,704 values."""
    domain = sample_schema(name).domain()
    gone = {"Address", "Unit ID", "ALS Unit", "Unit Type", "RACED", domain.names[0]}
    left = domain.project([n for n in domain.names if n not in gone])
    design = design_for_file(worked_design(name), left.names)
    check_at_every_budget(Design.model_validate(design), left)
    assert not [n for n in gone if f'"{n}"' in json.dumps(design)]
    if name == "firecalls":
        assert "Unit_Info" not in json.dumps(design), "a group of no members is in no set either"


def test_the_design_of_section_5_4_has_what_the_document_says_of_columns_and_runs_on_a_table_with_them():
    """One-ways alone, pairs without, wages by city and sex in bins that the budget decides; written for a file too."""
    schema = sample_schema("census98")
    domain, codes = schema.domain(), Codec(schema).encode(sample_table("census98")).codes
    written = described(worked_design("census98"))
    check_at_every_budget(Design.model_validate(written), domain)
    sets = [frozenset(s) for s in written["marginals"][0]["sets"]]
    assert {frozenset(s) for s in (("AGE", "EDUCD"), ("CITY", "METAREAD"), ("CITY", "SEX", "INCWAGE"))} <= set(sets)
    assert not [s for s in sets if s & {"AGEMONTH", "DURUNEMP", "CITIZEN"}]
    cells = {}
    for epsilon in (0.3, 1.0, 4.0):
        task = Task(domain=domain, unit=Unit(), budget=Budget(epsilon=epsilon, delta=1e-9))
        system = configure("dpsyn-2018", {"design": written}).calibrate(task)
        cells[epsilon] = system.working["INCWAGE"].size
    assert cells == {0.3: 6, 1.0: 10, 4.0: 30}
    out, gate, _ = run("dpsyn-2018", task, codes, settings={"design": written})
    names = {c.name for c in gate.account.charges}
    assert {"marginal AGEMONTH", "marginal DURUNEMP", "marginal CITIZEN"} <= names
    assert [n for n in names if "INCWAGE" in n and n.count(" x ") == 2 and "CITY" in n and "SEX" in n]
    for general, detailed in (("RACE", "RACED"), ("EDUC", "EDUCD")):  # the mapping is public
        of = next(h for h in written["hierarchies"] if h["general"] == general)["codes"]
        assert (np.array(of)[out[domain.index(detailed)]] == out[domain.index(general)]).all()
    left = domain.project([n for n in domain.names if n != "IND"])
    for_file = design_for_file(written, left.names)
    check_at_every_budget(Design.model_validate(for_file), left)
    assert '"IND"' not in json.dumps(for_file) and not [b for b in for_file["budgets"][0]["bins"] if "edges" in b]


def test_high_budgets_bring_calls_to_their_box_and_low_ones_leave_it_random():
    schema = sample_schema("firecalls")
    domain, codes = schema.domain(), Codec(schema).encode(sample_table("firecalls")).codes
    box, east = domain.index("Box"), domain.index("Location-lng")
    found = {}
    for epsilon in (0.3, 1000.0):
        task = Task(domain=domain, unit=Unit(), budget=Budget(epsilon=epsilon, delta=1e-9))
        out, _, _ = run("dpsyn-2018", task, codes, settings={"design": worked_design("firecalls")})
        found[epsilon] = float((np.abs(out[box] % 12 * 8.0 + 5.5 - out[east]) < 4).mean())
    assert found[0.3] < 0.2
    assert found[1000.0] > 0.7


def test_a_file_of_somebody_with_a_draft_as_its_schema_is_run_and_what_the_draft_lacks_is_named(
    tmp_path, monkeypatch, capsys
):
    """`benchmarks.designs --file`; no run is made, its table is a copy whose name says NOT-PRIVATE."""
    source, schema = write_sample(tmp_path, "firecalls")
    source.write_text("".join(source.read_text("utf-8").splitlines(keepends=True)[:200]), "utf-8")
    document = json.loads(schema.read_text("utf-8"))
    document["attributes"] = [a for a in document["attributes"] if a["name"] != "Address"]
    draft = tmp_path / "draft.json"
    draft.write_text(json.dumps(document), "utf-8")
    ran = []

    def run_of(command, home):
        ran.append(command)
        out = Path(command[command.index("--out") + 1])
        out.with_name("out.NOT-PRIVATE.csv").write_bytes(source.read_bytes())
        return Cost(cpu=1.0, wall=1.0, megabytes=1.0, status=0, errors="")

    monkeypatch.setattr(designs, "measure", run_of)
    monkeypatch.setattr(designs, "compute", lambda _comparison, names: dict.fromkeys(names))  # takes a minute
    given = ["--only", "firecalls", "--file", str(source), "--schema", str(draft), "--epsilons", "8", "--seeds", "1"]
    monkeypatch.setattr("sys.argv", ["designs", *given])
    designs.main()
    said = capsys.readouterr().out
    assert "draft.json lacks them: Address\n" in said and said.count("| firecalls | 8.0 |") == 3
    setting = next(part for part in ran[0] if str(part).startswith("design="))
    assert "Address" not in setting and "Unit_Info" in setting and len(ran) == 3


@pytest.mark.parametrize(
    ("program", "given", "said"),
    [
        (designs, ["--only", "census98", "--file", "{calls}", "--schema", "{schema}"], "has no column of census98"),
        (designs, ["--only", "firecalls", "--file", "none.csv", "--schema", "{schema}"], "none.csv"),
        (designs, ["--only", "firecalls", "--file", "{calls}", "--schema", "{calls}"], "the schema is not JSON"),
        (designs, ["--only", "firecalls", "--schema", "{schema}"], "--file and --schema go together"),
        (designs, ["--epsilons", "one"], "'one' is no list of numbers above 0"),
        (deep, ["--epsilons", ".1,0"], "'.1,0' is no list of numbers above 0"),
        (deep, ["--seeds", "0"], "'0' is no whole number of at least 1"),
        (deep, ["--positive", "1"], "--positive, --without and --row need --file"),
        (deep, ["--file", "none.csv", "--target", "Class"], "none.csv"),
    ],
)
def test_benchmarks_on_the_table_of_somebody_refuse_wrong_inputs_in_a_sentence(
    program, given, said, tmp_path, monkeypatch, capsys
):
    calls, schema = write_sample(tmp_path, "firecalls")
    monkeypatch.setattr("sys.argv", ["bench", *(a.format(calls=calls, schema=schema) for a in given)])
    with pytest.raises(SystemExit) as refused:
        program.main()
    assert refused.value.code == 2 and said in capsys.readouterr().err
