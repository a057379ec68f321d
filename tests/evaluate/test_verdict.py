"""The verdict: what is kept of the relations between two floors, what was lost, and when nothing good is said."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from dpsyn_core.errors import MetricError
from dpsyn_core.evaluate import shifts as moved
from dpsyn_core.evaluate.associations import corrected_v, cramers_v
from dpsyn_core.evaluate.comparison import Comparison
from dpsyn_core.evaluate.correlations import RankCorrelation
from dpsyn_core.evaluate.loader import compare_tables
from dpsyn_core.evaluate.relations import RelationsKept, distances, relations
from dpsyn_core.evaluate.shuffled_floor import FLOORED, between, redrawn
from dpsyn_core.evaluate.verdicts import verdict
from dpsyn_core.report.amounts import told_apart
from dpsyn_core.report.verdict import sentence, verdict_entry
from dpsyn_core.report.wording import ENGLISH
from dpsyn_core.schema.document import Schema
from tests.evaluate.tables import draw, small_domain

GOOD = ("good", "right", "outline", "close", "near")


def shuffled(codes, seed=5):
    rng = np.random.default_rng(seed)
    return np.stack([rng.permutation(row) for row in codes])


def compared(real, synthetic):
    return Comparison(domain=small_domain(), real=real, synthetic=synthetic)


@pytest.mark.parametrize("n", [300, 3000])
def test_a_shuffled_copy_keeps_nothing_and_nothing_good_is_said_of_it(n):
    real = draw(n, 1)
    found = verdict_entry(compared(real, shuffled(real)))["verdict"]
    assert found["relations_kept"] == 0 and "keeps 0%" in found["sentence"]
    assert not [w for w in GOOD if w in found["sentence"].lower()]
    first = found["lost"][0]
    assert (set(first["columns"]), first["measure"]) == ({"age", "pay"}, "rank correlation")
    truth = pd.DataFrame(real.T, columns=small_domain().names).corr("spearman").loc["age", "pay"]
    assert first["real"] == pytest.approx(truth, abs=1e-6) and abs(first["synthetic"]) < 0.2


def test_a_fresh_sample_keeps_all_and_is_praised():
    found = verdict(compared(draw(4000, 1), draw(4000, 2)))
    assert found.relations_kept > 0.95 and found.grade == "near" and not found.lost and not found.findings
    assert sentence(found).startswith("Nearly as good") and found.alarm is None


def test_a_copy_keeps_all_and_is_an_alarm_before_anything_else():
    real = draw(4000, 1)
    found = verdict(compared(real, real))
    assert found.relations_kept == 1 and not found.praises and found.findings[0] is found.alarm
    entry = verdict_entry(compared(real, real))["verdict"]
    assert entry["alarm"].startswith("A copy") and entry["sentence"].startswith("A copy")


def test_tables_without_relations_lose_none_and_say_so():
    rng = np.random.default_rng(2)
    real = np.stack([rng.integers(0, s, 500) for s in small_domain().sizes]).astype(np.uint8)
    found = verdict_entry(compared(real, shuffled(real)))["verdict"]
    assert found["relations_kept"] is None and found["lost"] == []
    assert "no relation between columns beyond chance" in found["sentence"]
    constant = np.zeros_like(real)
    assert verdict_entry(compared(constant, constant))["verdict"]["relations_kept"] is None
    assert verdict_entry(compared(real[:, :20], real[:, :20]))["verdict"]["relations_kept"] is None


def test_a_single_column_has_no_relation():
    domain = small_domain().project(["age"])
    real = draw(200, 1)[:1]
    found = verdict_entry(Comparison(domain=domain, real=real, synthetic=real[:, ::-1].copy()))["verdict"]
    assert found["relations_kept"] is None and found["sentence"].startswith("There is a single column")


def test_the_floors_of_relations_are_what_fresh_and_shuffled_tables_score():
    real = draw(1500, 1)
    table = np.histogram2d(real[0] // 2, real[4] // 2, bins=(6, 5))[0][None]
    rng = np.random.default_rng(4)
    seen = {"fresh": [], "alone": []}
    for _ in range(200):
        picks = rng.integers(0, 1500, (2, 1500))
        for what, (i, j) in (("fresh", (picks[0], picks[0])), ("alone", (picks[0], picks[1]))):
            made = np.histogram2d(real[0][i] // 2, real[4][j] // 2, bins=(np.arange(7), np.arange(6)))[0][None]
            base = np.histogram2d(real[0] // 2, real[4] // 2, bins=(np.arange(7), np.arange(6)))[0][None]
            seen[what].append(distances(base, made, 1.0)[0, 0])
    _, fresh, alone, chance, *variances = distances(table, table, 1.0)[:, 0]
    # a normal in place of a binomial in cells of a few records; the mean of 200 is right to 1 %
    assert fresh == pytest.approx(np.mean(seen["fresh"]), rel=0.05)
    assert alone == pytest.approx(np.mean(seen["alone"]), rel=0.05)
    assert chance < 1e-9
    # cells are taken as equally uneven; the deviation of 200 draws is right to 5 %
    deviations = [np.std(seen["fresh"]), np.std(seen["alone"])]
    assert np.sqrt(variances) == pytest.approx(deviations, rel=0.3)


SCHEMA = {
    "version": 1, "name": "films",
    "attributes": [
        {"name": "budget", "kind": "numeric", "dtype": "integer", "min": 0, "max": 10_000, "missing": True},
        {"name": "votes", "kind": "numeric", "dtype": "integer", "min": 0, "max": 10_000},
        {"name": "rating", "kind": "categorical", "values": list(range(1, 11))},
        {"name": "colour", "kind": "categorical", "values": ["yes", "no"]},
    ],
}  # fmt: skip


def films(n, seed):
    rng = np.random.default_rng(seed)
    votes = rng.lognormal(5, 1, n).astype(int).clip(0, 9999)
    rating = (rng.integers(1, 5, n) + (votes > 150) * 5).clip(1, 10)
    budget = (votes * rng.uniform(0.5, 2, n)).clip(0, 9999).round()
    budget[rng.random(n) < 0.9] = np.nan
    return pd.DataFrame({
        "budget": pd.array(budget, dtype="Int64"), "votes": votes, "rating": rating,
        "colour": np.where(rng.random(n) < 0.5 + 0.4 * (votes > 150), "yes", "no"),
    })  # fmt: skip


def test_what_moved_is_what_pandas_finds_in_the_two_files():
    real, made = films(4000, 1), films(4000, 2)
    there = made.budget.notna().to_numpy()
    made.loc[there, "budget"] = np.random.default_rng(3).permutation(made.budget[there])
    made["votes"] = made.votes // 2
    c = compare_tables(Schema.of(SCHEMA), pa.Table.from_pandas(made), pa.Table.from_pandas(real))
    found = verdict(c)
    (pair,) = [p for p in found.correlations if set(p.columns) == {"budget", "votes"}]
    for frame, got in ((real, pair.real), (made, pair.synthetic)):
        assert got == pytest.approx(frame[["budget", "votes"]].astype(float).corr("spearman").iloc[0, 1], abs=1e-6)
    assert "ank correlation of budget and votes" in sentence(found) and "votes: mean" in sentence(found)
    (mean,) = [m for m in found.means if m.column == "votes"]
    assert (mean.real, mean.synthetic) == (pytest.approx(real.votes.mean()), pytest.approx(made.votes.mean()))
    (gap,) = [g for g in moved.gaps(c) if (g.column, g.category) == ("votes", "colour")]
    assert gap.real.tolist() == pytest.approx(real.groupby("colour").votes.mean()[gap.values].tolist())
    assert gap.kept == pytest.approx(0.5, abs=0.15)
    assert not found.praises
    names = RankCorrelation().score(c).details["attributes"]
    assert "rating" in names, "lists of whole numbers have ranks"


def test_every_floored_metric_scores_unrelated_columns_worse_than_a_fresh_sample():
    c = compared(draw(2000, 1), draw(2000, 2))
    for name in FLOORED:
        try:
            found = between(c, name)
        except MetricError:
            continue
        assert found.kept is None or 0 <= found.kept <= 1, name
    pairs = between(c, "tvd-2way")
    assert (
        pairs.score.value == pytest.approx(pairs.fresh, rel=0.1) and pairs.fresh < pairs.unrelated and pairs.kept > 0.9
    )
    alone = redrawn(c, alone=True)
    for row, other in zip(alone.synthetic, c.truth, strict=True):
        assert np.array_equal(np.sort(row), np.sort(other))


def test_relations_of_noise_that_was_added_count_against_a_table():
    real = draw(3000, 1)
    kept = [RelationsKept().compute(compared(real, draw(3000, 2, blur))).value for blur in (0.0, 0.3, 0.9)]
    assert kept[0] > 0.85 > kept[1] > 0.4 > kept[2]
    assert len(relations(compared(real, real)).pairs) >= 4


def test_two_amounts_are_written_with_the_digits_that_tell_them_apart():
    assert told_apart(632.4, 452.1) == ("632", "452")
    assert told_apart(9007199254740005.6, 9007199254740007.0) == ("9,007,199,254,740,006", "9,007,199,254,740,007")
    assert told_apart(1.0001, 1.0002) == ("1.0001", "1.0002")
    assert told_apart(-0.5, 0.5) == ("\N{MINUS SIGN}0.5", "0.5")


def test_words_of_praise_stand_in_two_sentences_alone():
    praised = {k for k, v in ENGLISH.items() if k.startswith("verdict_") and {"good"} & set(v.lower().split())}
    assert praised == {"verdict_near", "verdict_good"}


def test_a_fresh_sample_is_praised_however_many_figures_are_compared():
    """Fifteen numbers and fifteen short categories without relations have over a thousand means of groups."""
    n = 1500

    def people(seed):
        rng = np.random.default_rng(seed)
        frame = pd.DataFrame({f"c{i}": rng.choice(list("abcdef"), n) for i in range(15)})
        frame["twin"] = np.where(rng.random(n) < 0.9, frame["c0"], "a")
        return frame.assign(**{f"x{i}": rng.integers(0, 50, n) for i in range(15)})

    frame = people(2)
    described = [
        {"name": name, "kind": "categorical", "values": list("abcdef"), "source": "public"}
        if not name.startswith("x")
        else {"name": name, "kind": "numeric", "dtype": "integer", "min": 0, "max": 50, "source": "public"}
        for name in frame
    ]
    schema = Schema.of({"version": 1, "name": "many", "attributes": described})
    praise = 0
    for seed in range(3):
        again = people(10 + seed)
        c = compare_tables(schema, pa.Table.from_pandas(again, preserve_index=False), pa.Table.from_pandas(frame))
        assert moved.sure_of(sum(len(g.values) for g in moved.gaps(c))) > 4
        praise += verdict(c).praises
    assert praise == 3


def test_a_strength_of_chance_alone_is_none():
    rng = np.random.default_rng(3)
    counts = np.zeros((40, 40), dtype=np.int64)
    np.add.at(counts, (rng.integers(0, 40, 2000), rng.integers(0, 40, 2000)), 1)
    rows, columns = np.nonzero(counts)
    cells = rows, columns, counts[rows, columns]
    assert cramers_v(cells) > 0.1 and corrected_v(cells) < 0.07
    same = np.arange(5), np.arange(5), np.full(5, 100)
    assert corrected_v(same) == pytest.approx(1, abs=0.01)


def test_a_fresh_sample_of_few_weak_relations_has_lost_nothing():
    """Pairs with a column in common move together, so that their sum strays farther than that of unrelated pairs."""
    rng = np.random.default_rng(7)
    n = 2400
    attitude = rng.normal(0, 1, n)
    answers = {f"q{i}": np.clip(np.round(2 + slope * attitude + rng.normal(0, 0.9, n)), 0, 4).astype(int)
               for i, slope in enumerate((0.5, -0.45, 0.2, 0.2))}  # fmt: skip
    described = [{"name": q, "kind": "categorical", "values": list(range(5)), "ordered": True} for q in answers]
    schema = Schema.of({"version": 1, "name": "opinions", "attributes": described})
    frame = pd.DataFrame(answers)
    real = pa.Table.from_pandas(frame)

    def judged(made):
        found = verdict(compare_tables(schema, pa.Table.from_pandas(made, preserve_index=False), real))
        return found.relations_kept, len(found.lost)

    fresh = [frame.iloc[np.random.default_rng(s).integers(0, n, n)] for s in range(30)]
    assert {judged(made) for made in fresh} == {(1.0, 0)}
    apart = frame.apply(lambda column: column.sample(frac=1, random_state=3 + int(column.name[1])).to_numpy())
    kept, lost = judged(apart)
    assert kept == 0 and lost >= 3
    kept, lost = judged(frame.assign(q0=apart["q0"]))  # a loss that is real is named, though all else is the same
    assert 0 < kept < 0.9 and lost == 1
