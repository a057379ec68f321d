"""Questions across a link: against pandas, with intervals that hold, refused where they do not fit, charged once."""

import json

import numpy as np
import pyarrow as pa
import pytest

from benchmarks.linked_tables import census, panel
from dpsyn_core.commands.cli import main
from dpsyn_core.errors import QuestionError
from dpsyn_core.estimate.marginals.coarsening import coarse_shape
from dpsyn_core.estimate.marginals.types import Measurement
from dpsyn_core.privacy.manifest.manifest import Manifest
from dpsyn_core.questions.document import Questions
from dpsyn_core.questions.evaluation import evaluate
from dpsyn_core.runs.synthesis import synthesize
from dpsyn_core.runs.trees import answers as answering
from dpsyn_core.runs.trees import flat_table as asked_table
from dpsyn_core.runs.trees.answers import asked_needs
from dpsyn_core.runs.trees.bounding import bounded
from dpsyn_core.runs.trees.flat_table import AskedTable
from dpsyn_core.runs.trees.measurement import ViewCounter
from dpsyn_core.runs.trees.order_statistics import RankedCounts
from dpsyn_core.runs.trees.stages import View, ViewColumn
from dpsyn_core.runs.verify.stated_noise import of_linked_charges
from tests.runs.trees.small import KEY, SCHEMAS, listed, most_moved_by_questions, schema_of, tables

SMALL = {"of": "persons", "where": "role = Child and age in [0, 4]", "any": True}
HOME = [
    {"about": "households", "counts": {"small child": SMALL},
     "ask": {"name": "share", "kind": "mean", "of": "small child"}},
    {"about": "households", "counts": {"small child": SMALL},
     "ask": {"name": "by region", "kind": "mean", "of": "small child", "by": ["region"]}},
    {"about": "households", "counts": {"children": {"of": "persons", "where": "role = Child"}},
     "ask": {"name": "children", "kind": "mean", "of": "children"}},
    {"about": "persons", "ask": {"name": "age by tenure", "kind": "mean", "of": "age", "by": ["households.tenure"]}},
    {"about": "persons", "ask": {"name": "couples", "kind": "table", "of": ["education", "Head.education"]}},
    {"about": "persons",
     "ask": {"name": "old renters", "kind": "range", "where": "age >= 65 and households.tenure = Rented"}},
]  # fmt: skip
WAVES = [
    {"about": "waves", "ask": {"name": "moves", "kind": "table", "of": ["before.job", "job"]}},
    {"about": "waves", "changes": {"change": "income"},
     "ask": {"name": "rise", "kind": "mean", "of": "change", "by": ["wave"]}},
]  # fmt: skip


def exact(shaped, question):
    """The answer on the real tables."""
    forest, _ = bounded(shaped.schema, shaped.tables, key=KEY)
    table = AskedTable(shaped.schema, question)
    return evaluate(question.ask, table.codes(forest), table.table)


def test_answers_on_real_households_are_those_of_pandas():
    shaped = census(4, 800)
    found = {q.name: exact(shaped, q) for q in Questions.of(HOME).across}
    homes, persons = (shaped.tables[n].to_pandas() for n in ("households", "persons"))
    small = persons[(persons["role"] == "Child") & (persons["age"] <= 4)]["household_id"].unique()
    has = homes["household_id"].isin(small)
    assert found["share"].values == pytest.approx(has.mean())
    by = has.groupby(homes["region"]).mean()
    assert found["by region"].values == pytest.approx([by[n] for n in found["by region"].axes[0].labels])
    assert found["children"].values == pytest.approx((persons["role"] == "Child").sum() / len(homes))
    both = persons.merge(homes, on="household_id")
    ages = both.groupby("tenure")["age"].mean()
    assert found["age by tenure"].values == pytest.approx([ages[n] for n in found["age by tenure"].axes[0].labels])
    assert found["old renters"].values == ((both["age"] >= 65) & (both["tenure"] == "Rented")).sum()
    heads = persons[persons["role"] == "Head"][["household_id", "education"]].rename(columns={"education": "head"})
    pairs = persons[persons["role"] != "Head"].merge(heads, on="household_id")
    own, above = found["couples"].axes
    wanted = [[((pairs["education"] == a) & (pairs["head"] == b)).sum() for b in above.labels[:-1]] for a in own.labels]
    assert np.array_equal(found["couples"].values[:, :-1], wanted)
    assert found["couples"].values[:, -1].sum() == len(homes)  # heads have no head beside them


def test_answers_on_a_real_panel_follow_persons_from_wave_to_wave():
    shaped = panel(4, 500)
    found = {q.name: exact(shaped, q) for q in Questions.of(WAVES).across}
    waves = shaped.tables["waves"].to_pandas().sort_values(["person", "wave"])
    before = waves.groupby("person")[["job", "income"]].shift()
    for i in (0, 1):
        for j in (0, 1):
            assert found["moves"].values[i, j] == ((before["job"] == i) & (waves["job"] == j)).sum()
    rise = ((waves["income"] // 2 - before["income"] // 2) * 2).groupby(waves["wave"]).mean()  # bins of two
    assert found["rise"].values[1:] == pytest.approx(rise.to_numpy()[1:])
    assert np.isnan(found["rise"].values[0])


def test_intervals_hold_the_exact_answer_about_as_often_as_they_say():
    shaped, inside, widths = census(5, 600), [], []
    asked = Questions.of(HOME)
    truth = {q.name: exact(shaped, q).values for q in asked.across}
    for run in range(8):
        release = synthesize(
            shaped.tables, shaped.schema, epsilon=2.0, delta=1e-6, rng=run, settings={"effort": 0.1}, questions=asked
        )
        for answer in release.answers:
            known = ~np.isnan(truth[answer.name])
            inside += list(((answer.low <= truth[answer.name]) & (truth[answer.name] <= answer.high))[known])
            widths += list((answer.high - answer.low)[known])
    # 8 runs of 56 figures that share tables: 95 % within five standard errors of about 8 * 6 independent answers
    assert 0.80 < np.mean(inside) <= 1.0 and min(widths) > 0


MEANS = [
    {"about": "kids", "ask": {"name": "mean", "kind": "mean", "of": "t", "by": ["r"]}},
    {"about": "kids", "at_most": 3, "ask": {"name": "sum", "kind": "sum", "of": "t"}},
    {"about": "kids", "ask": {"name": "gap", "kind": "gap", "of": "t", "between": {"roots.a": ["0", "1"]}}},
    {"about": "roots", "counts": {"n": {"of": "kids"}}, "ask": {"name": "count", "kind": "mean", "of": "n"}},
]


def test_what_follows_from_a_mean_is_measured_at_the_two_ends_of_its_number():
    schema, given = SCHEMAS["many"], tables(300, 20, 3)
    forest, _ = bounded(schema, given, key=KEY)
    asked = Questions.of(MEANS)
    for table, need in asked_needs(schema, asked):
        assert table.ends and coarse_shape(table.table.domain(), [table.question.ask.of], need.maps) == (2,)
        codes, weights = table.counted(forest)
        found = evaluate(table.question.ask, codes, table.table, weights=weights / table.whole).values
        truth = evaluate(
            table.question.ask, table.codes(forest), table.table, weights=table.weights(forest) / table.whole
        ).values
        spread = 20 / 2 / 256 * (weights.sum() / table.whole if table.question.name == "sum" else 1)  # of rounded parts
        assert np.abs(found - truth).max() < spread, table.question.name
    others = [{"about": "kids", "ask": {"name": k, "kind": k, "of": "t"}} for k in ("quantile", "gini")]
    assert all(not table.ends for table, _ in asked_needs(schema, Questions.of(others)))


def test_a_median_is_not_moved_by_the_noise_of_empty_cells():
    rng = np.random.default_rng(1)
    bins = {"count": 400}
    long = {"name": "t", "kind": "numeric", "dtype": "integer", "min": 0, "max": 399, "bins": bins}
    schema = schema_of({}, child=(listed("r", 3), long), theta=5)
    of = np.repeat(np.arange(2000), rng.integers(1, 5, 2000))
    given = tables(2000, 0, 1) | {"kids": pa.table({"root": of.astype(str), "r": ["0"] * len(of),
                                                    "t": rng.binomial(60, 0.25, len(of)).astype(str)})}  # fmt: skip
    asked = Questions.of([
        {"about": "kids", "ask": {"name": "median", "kind": "quantile", "of": "t", "at": [0.5]}},
    ])  # fmt: skip
    release = synthesize(given, schema, epsilon=2.0, delta=1e-6, rng=1, settings={"effort": 0.1}, questions=asked)
    median = float(release.answers[0].estimate.ravel()[0])
    assert abs(median - 15) < 6, "370 of 400 cells are empty; where their noise counts when above 0, it is 100"


@pytest.mark.parametrize("name", ["plain", "roles", "ordered"])
def test_one_root_moves_no_question_by_more_than_it_is_charged_for(name):
    schema = SCHEMAS[name]
    asked = Questions.of([
        {"about": "roots", "counts": {"n": {"of": "kids"}}, "ask": {"name": "q1", "kind": "table", "of": ["a", "n"]}},
        {"about": "kids", "ask": {"name": "q2", "kind": "table", "of": ["t", "roots.a"]}},
        {"about": "kids", "ask": {"name": "q3", "kind": "quantile", "of": "t", "at": [0.5]}},
        {"about": "kids", "at_most": 2, "ask": {"name": "q4", "kind": "gini", "of": "t", "by": ["r"]}},
        {"about": "roots", "counts": {"n": {"of": "kids"}}, "ask": {"name": "q5", "kind": "gini", "of": "n"}},
        *MEANS,
    ])  # fmt: skip
    most = {}
    for seed in range(4):
        found = most_moved_by_questions(schema, asked, tables(30, 4, seed), tables(1, 20, seed + 50, first=900))
        most = {n: max(most.get(n, 0), part) for n, part in found.items()}
    assert max(most.values()) == 1.0
    assert {t.unit for t, _ in asked_needs(schema, asked)} == {1, 3, 2 * 64, 256, 3 * 256, 3 * 64 * 256}


def test_records_of_a_root_with_many_weigh_no_more_than_those_that_count_fully_and_intervals_narrow():
    schema, given = SCHEMAS["many"], tables(400, 20, 3)
    ask = {"kind": "table", "of": ["r"]}
    asked = Questions.of([
        {"about": "kids", "ask": {"name": "all", **ask}},
        {"about": "kids", "at_most": 4, "ask": {"name": "four", **ask}},
    ])  # fmt: skip
    forest, _ = bounded(schema, given, key=KEY)
    for most in (1, 3, 4, 19, 50):
        question = asked.across[1].model_copy(update={"at_most": most})
        table = AskedTable(schema, question)
        root = forest.root_of(0)[forest.children[0].parents]
        held, number = np.bincount(root, table.weights(forest)), np.bincount(root)
        assert held.max() <= table.unit == table.whole * min(most, 20)
        assert (held[number <= most] == table.whole * number[number <= most]).all()
    release = synthesize(given, schema, epsilon=2.0, delta=1e-6, rng=1, settings={"effort": 0.1}, questions=asked)
    wide, narrow = ((a.high - a.low).mean() for a in release.answers)
    assert 3 < wide / narrow < 8  # 20 records against 4, from 400 draws of the noise
    counted = np.minimum(number, 4).sum()
    assert abs(release.answers[1].estimate.sum() - counted) < 3 * narrow + number.sum() / 32  # weights are rounded down
    made, _ = bounded(schema, release.arrows, key=KEY)
    weighed = AskedTable(schema, asked.across[1]).weights(made).sum() / 64
    everyone, four = (a.synthetic.sum() for a in release.answers)
    assert four == weighed < everyone == made.children[0].codes.shape[1], "of synthetic tables the same is said"
    assert [a.plain()["at_most"] for a in release.answers] == [None, 4]
    assert "count fully" in release.answers[1].sentence() and "count fully" not in release.answers[0].sentence()
    assert not of_linked_charges(release.manifest, schema)


BAD = {
    "at most of a root": (
        {"about": "roots", "at_most": 3, "ask": {"name": "q", "kind": "table", "of": ["a"]}}, "leave at_most out"),
    "no column of a condition": (
        {"about": "roots", "counts": {"n": {"of": "kids", "where": "x = 1"}},
         "ask": {"name": "q", "kind": "mean", "of": "n"}}, "no column 'x'"),
    "no table": ({"about": "cities", "ask": {"name": "q", "kind": "table", "of": ["a"]}}, "is no table"),
    "no column": ({"about": "roots", "ask": {"name": "q", "kind": "table", "of": ["t"]}}, "is no column that"),
    "no order": ({"about": "kids", "changes": {"c": "t"}, "ask": {"name": "q", "kind": "mean", "of": "c"}}, "no order"),
    "children of children": ({"about": "kids", "counts": {"n": {"of": "kids"}},
                              "ask": {"name": "q", "kind": "mean", "of": "n"}}, "has none"),
    "a name that is taken": ({"about": "roots", "counts": {"a": {"of": "kids"}},
                              "ask": {"name": "q", "kind": "mean", "of": "a"}}, "already"),
    "a kind without an interval": ({"about": "kids", "ask": {"name": "q", "kind": "predict", "of": "t"}}, "more than"),
    "a value that is not listed": ({"about": "roots", "counts": {"n": {"of": "kids", "where": "r = 9"}},
                                    "ask": {"name": "q", "kind": "mean", "of": "n"}}, "9"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_a_question_that_does_not_fit_is_refused_before_anything_is_charged(case, tmp_path):
    question, said = BAD[case]
    with pytest.raises(QuestionError, match=said) as error:
        synthesize(tables(20, 3, 1), SCHEMAS["plain"], epsilon=1.0, delta=1e-6, rng=1, questions=[question])
    assert "\n" not in str(error.value)
    assert not list((tmp_path / "home").glob("**/*.sqlite*"))


def test_the_command_answers_questions_and_its_manifest_verifies(tmp_path, capsys):
    shaped = census(6, 300)
    shaped.schema.dump(tmp_path / "s.json")
    for name, table in shaped.tables.items():
        table.to_pandas().to_csv(tmp_path / f"{name}.csv", index=False)
    asked = [*HOME, {"about": "persons", "at_most": 2, "ask": {"name": "two", "kind": "table", "of": ["sex"]}}]
    asked += RANKED
    (tmp_path / "q.json").write_text(json.dumps({"version": 1, "questions": asked}))
    named = [f"--table={n}={tmp_path / n}.csv" for n in shaped.tables]
    words = [*named, "--schema", str(tmp_path / "s.json"), "--epsilon=3", "--delta=1e-6", "--seed=1"]
    words += ["--questions", str(tmp_path / "q.json"), "--set", "effort=0.1"]
    assert main(["synth", *words, "--out", str(tmp_path / "out/")]) == 0
    assert "share: " in capsys.readouterr().err
    answers = json.loads((tmp_path / "out/answers.json").read_text())
    assert [a["question"] for a in answers] == [q["ask"]["name"] for q in asked]
    manifest = Manifest.load(tmp_path / "out/manifest.json")
    assert of_linked_charges(manifest, shaped.schema) == []
    assert sum(c.kind == "question" for c in manifest.charges) == len(asked)
    checked = ["--manifest", str(tmp_path / "out/manifest.json"), "--schema", str(tmp_path / "s.json")]
    assert main(["verify", str(tmp_path / "out/persons.csv"), *checked]) == 0
    fewer = manifest.model_copy(update={"settings": manifest.settings | {"questions": []}})
    assert any("do not charge there" in s for s in of_linked_charges(fewer, shaped.schema))


RANKED = [
    {"about": "households", "ask": {"name": "income", "kind": "quantile", "of": "income", "at": [0.25, 0.5, 0.75]}},
    {"about": "households", "counts": {"n": {"of": "persons"}},
     "ask": {"name": "size", "kind": "quantile", "of": "n", "at": [0.5, 0.9]}},
    {"about": "households", "counts": {"n": {"of": "persons", "where": "role = Child"}},
     "ask": {"name": "unequal", "kind": "gini", "of": "n", "by": ["tenure"]}},
    {"about": "persons", "at_most": 4, "ask": {"name": "age", "kind": "quantile", "of": "age", "at": [0.5]}},
    {"about": "persons", "ask": {"name": "ages", "kind": "gini", "of": "age"}},
]  # fmt: skip


def drawn_again(forest, table, need, sigma, *, pure, rng):
    """A noisy table of a question, without the gate; seeded."""
    codes, weights = table.counted(forest)
    columns = tuple(ViewColumn(attribute=a, kind="own") for a in table.table.domain().attributes)
    exact = ViewCounter(View(columns=columns, unit=table.unit, pairs=()), list(codes), weights)
    values = exact.marginal(need.attributes, need.maps)
    spread = rng.laplace(0, sigma / 2**0.5, values.shape) if pure else rng.normal(0, sigma, values.shape)
    return Measurement(attributes=need.attributes, values=values + spread, sigma=sigma, recodes=need.maps)


@pytest.mark.parametrize("pure", [False, True])
@pytest.mark.parametrize(("noisy", "runs"), [(2.0, 100), (20.0, 100), (200.0, 100), (20.0, 25)])
def test_intervals_of_medians_and_gini_indices_hold_at_any_noise(noisy, runs, pure, monkeypatch):
    monkeypatch.setattr(answering, "DRAWS", 100)
    monkeypatch.setattr(asked_table, "MOST_RUNS", runs)
    shaped, rng = census(3, 2_000), np.random.default_rng(round(noisy))
    asked = Questions.of(RANKED)
    forest, _ = bounded(shaped.schema, shaped.tables, key=KEY)
    for table, need in asked_needs(shaped.schema, asked):
        truth = exact(shaped, table.question).values
        if table.question.at_most is not None:
            weights = table.weights(forest) / table.whole
            truth = evaluate(table.question.ask, table.codes(forest), table.table, weights=weights).values
        inside = []
        for _ in range(30):
            noise = drawn_again(forest, table, need, noisy * table.unit, pure=pure, rng=rng)
            answer, low, high = answering.estimated(table, need, noise, pure=pure, rng=rng)
            inside.append(((low <= truth) & (truth <= high)).mean())
            assert (low <= answer.values)[~np.isnan(answer.values)].all()
        # 30 tables at 95 %: five standard errors of 4 % below it
        assert np.mean(inside) >= 0.75, table.question.name
    if noisy < 3:
        assert high - low < 0.1, "the Gini index of ages is known where there is little noise"


def test_a_gini_index_of_a_table_without_noise_is_the_usual_one():
    numbers = np.array([0, 0, 1, 3, 3, 8], dtype=float)
    counts = np.bincount(numbers.astype(int), minlength=10)[None, :].astype(float)
    middle = np.arange(10.0)
    found = RankedCounts(counts=counts, sigma=1e-9, low=middle, high=middle, middle=middle)
    pairs = np.abs(numbers[:, None] - numbers).mean() / 2 / numbers.mean()
    squares, product = found.gini_parts(0.0)
    assert 1 - squares / product == pytest.approx([pairs])
    assert found.quantiles(0.5, 1.96) == (2.0, 1.0, 3.0), "half of six is reached between the third and the fourth"


def test_a_change_is_asked_of_a_column_with_bins_of_several_widths():
    rng = np.random.default_rng(1)
    wage = {"name": "t", "kind": "numeric", "dtype": "integer", "min": 219, "max": 3667}  # its default bins are round
    schema = schema_of({"order": "r"}, child=(listed("r", 5) | {"ordered": True}, wage), theta=5)
    pay = rng.integers(219, 3668, (400, 5))
    given = tables(400, 0, 1) | {"kids": pa.table({"root": np.repeat(np.arange(400), 5).astype(str),
                                                   "r": np.tile(np.arange(5), 400).astype(str),
                                                   "t": pay.ravel().astype(str)})}  # fmt: skip
    forest, _ = bounded(schema, given, key=KEY)
    for kind, wanted, off in (("mean", np.diff(pay).mean(), 1.0), ("quantile", np.median(np.diff(pay)), 25.0)):
        ask = {"name": "q", "kind": kind, "of": "c"} | ({"at": [0.5]} if kind == "quantile" else {})
        (question,) = Questions.of([{"about": "kids", "changes": {"c": "t"}, "ask": ask}]).across
        table = AskedTable(schema, question)
        found = evaluate(question.ask, table.codes(forest), table.table).values
        assert float(found.ravel()[0]) == pytest.approx(wanted, abs=off), kind
