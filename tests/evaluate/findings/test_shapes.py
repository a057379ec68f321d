"""Shapes of single columns, interactions, grids of places, repeated records, and words in another form."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from dpsyn_core.evaluate import compare_tables, effects, verdict
from dpsyn_core.evaluate.findings.finding import Finding
from dpsyn_core.evaluate.findings.interactions import interactions
from dpsyn_core.evaluate.findings.listed import _causes_first
from dpsyn_core.evaluate.findings.shapes import stretch
from dpsyn_core.schema import draft

N = 3000


def crashes(seed, n=N):
    """Speeds in tens, drivers of two ages, office hours, and a prize for what two things say together."""
    rng = np.random.default_rng(seed)
    hour = rng.choice(np.arange(8, 18), n)
    a, b = rng.choice(["day", "night"], n), rng.choice(["small", "large"], n)
    speed = rng.normal(80, 25, n).clip(10)
    prize = rng.random(n) < np.where((a == "day") == (b == "small"), 0.8, 0.2)
    return pd.DataFrame({
        "when": np.datetime64("2023-01-02T00:00:00") + (rng.integers(0, 300, n) * 86_400 + hour * 3600
                                                     + rng.integers(0, 3600, n)).astype("timedelta64[s]"),
        "speed": np.where(rng.random(n) < 0.8, speed.round(-1), speed.round()).astype(int),
        "age": np.where(rng.random(n) < 0.6, rng.normal(25, 4, n), rng.normal(75, 4, n)).round().astype(int).clip(17),
        "shift": a, "store": b, "prize": np.where(prize, "yes", "no"),
        "member": np.where(rng.random(n) < 0.3, "True", "False"),
        "calls": pd.array(np.where(rng.random(n) < 0.3, np.nan, rng.integers(1, 5, n)), dtype="Int64"),
    })  # fmt: skip


def days(seed, noise=1.0):
    """Thirty homes on each of sixty days."""
    rng = np.random.default_rng(seed)
    home, day = np.repeat(np.arange(30), 60), np.tile(np.arange(60), 30)
    use = 8 + home % 5 + np.where(day % 7 >= 5, 3, 0) + noise * rng.normal(0, 1, len(home))
    return pd.DataFrame({
        "home": [f"H{h}" for h in home], "day": np.datetime64("2024-01-01") + day, "rooms": 2 + home % 4,
        "use": use.round(2), "visits": rng.poisson(0.4, len(home)),
    })  # fmt: skip


def compared(real, made):
    tables = [pa.Table.from_pandas(x, preserve_index=False) for x in (real, made)]
    document = draft(tables[0], name="t").document()
    document["attributes"] = [a | {"source": "public"} for a in document["attributes"]]
    return compare_tables(document_of(document), tables[1], tables[0])


def document_of(document):
    from dpsyn_core.schema import Schema

    return Schema.of(document)


def first(made, real=None):
    return verdict(compared(crashes(1) if real is None else real, made)).findings[0]


def test_a_fresh_sample_has_none_of_them():
    assert verdict(compared(crashes(1), crashes(2))).findings == []


def test_the_stretch_is_the_one_whose_share_moved_most():
    rng = np.random.default_rng(0)
    real, made = rng.integers(0, 40, 500).astype(float), np.r_[rng.integers(0, 40, 400), [17] * 100].astype(float)
    every = [(abs(np.mean((real >= a) & (real <= b)) - np.mean((made >= a) & (made <= b))), a, b)
             for a in range(40) for b in range(a, 40)]  # fmt: skip
    found = stretch(real, made)
    assert found.kind == "stretch" and found.gap == pytest.approx(max(every)[0])
    assert found.real == np.mean((real >= found.low) & (real <= found.high))
    assert stretch(real, real) is None


def test_an_end_that_is_cut_is_said_as_an_end():
    real = np.arange(100.0)
    above, below = stretch(real, real.clip(None, 79)), stretch(real, real.clip(20, None))
    assert (above.kind, above.low, above.real, above.synthetic) == ("above", 79, pytest.approx(0.2), 0)
    assert (below.kind, below.high, below.real, below.synthetic) == ("below", 19, pytest.approx(0.2), 0)


def test_two_peaks_that_became_one_come_first():
    made = crashes(2)
    age = made.age
    one = np.random.default_rng(3).normal(age.mean(), age.std(), N).round().clip(17, 85).astype(int)
    f, made = first(made.assign(age=one)), made.assign(age=one)
    real = crashes(1)
    assert (f.key, f.columns) == ("stretch", ("age",))
    for share, table in ((f.real, real), (f.synthetic, made)):
        assert share == pytest.approx(table.age.between(f.what["low"], f.what["high"]).mean())


def test_a_mean_that_moved_is_said_as_a_mean():
    made = crashes(2)
    keys = [f.key for f in verdict(compared(crashes(1), made.assign(age=made.age + 5))).findings if "age" in f.columns]
    assert "mean" in keys and not {"stretch", "above", "below"} & {*keys}


def test_hours_that_nobody_has_come_first():
    made = crashes(2)
    made["when"] = made.when.dt.normalize() + pd.to_timedelta(np.random.default_rng(4).integers(0, 86_400, N), unit="s")
    f = first(made)
    assert (f.key, f.columns) == ("times_hour", ("when",))
    assert f.synthetic == pytest.approx(made.when.dt.hour.between(f.what["low"], f.what["high"]).mean())


def test_numbers_that_are_no_longer_rounded_are_counted_as_pandas_counts_them():
    made = crashes(2)
    made["speed"] += np.random.default_rng(5).integers(-4, 5, N)
    f = first(made)
    shares = [(table.speed[table.speed != 0] % 10 == 0).mean() for table in (crashes(1), made)]
    assert (f.key, f.what["step"], f.real, f.synthetic) == ("heaps", 10, *map(pytest.approx, shares))


def test_an_interaction_that_no_pair_shows_is_lost_or_opposite():
    whole = interactions(compared(crashes(1), crashes(2)))  # each of the three by the two others
    assert [{x.outcome, x.first, x.second} for x in whole] == [{"prize", "shift", "store"}] * 3
    assert not any(x.lost for x in whole) and all(x.kept == pytest.approx(1, abs=0.1) for x in whole)
    made = crashes(2)
    assert first(made.assign(prize=np.where(made.prize == "yes", "no", "yes"))).key == "interaction_turned"
    assert first(made.assign(prize=np.random.default_rng(6).permutation(made.prize))).key == "interaction"


def test_records_that_are_repeated_are_counted_as_pandas_counts_them():
    made = crashes(2).iloc[np.random.default_rng(7).integers(0, 60, N)]
    f = first(made)
    assert f.key == "repeated" and f.synthetic == pytest.approx(made.duplicated().mean())


def test_a_grid_of_places_is_no_copy_for_being_the_same_places():
    assert verdict(compared(days(1), days(2))).alarm is None
    assert verdict(compared(days(1), days(2).sample(frac=1, random_state=1))).alarm is None


@pytest.mark.parametrize("noise", [0, 0.02])
def test_a_copy_of_a_grid_is_an_alarm_with_or_without_noise(noise):
    real = days(1)
    made = real.assign(use=(real.use + noise * np.random.default_rng(8).normal(0, 1, len(real))).round(2))
    assert verdict(compared(real, made.sample(frac=1, random_state=2))).alarm is not None


def test_few_records_that_are_learnt_by_heart_are_an_alarm():
    real, made = crashes(1), crashes(2)
    some = pd.concat([made.iloc[:-29], real.nlargest(29, "age")]).sample(frac=1, random_state=3)
    alarm = verdict(compared(real, some)).alarm
    assert alarm.key == "copies" and alarm.what["met"] == 29


def test_a_key_that_the_schema_leaves_out_must_not_repeat():
    real, made = (crashes(k).assign(no=[f"C{k}-{i:05d}" for i in range(N)]) for k in (1, 2))
    f = first(made.assign(no=made.no.iloc[:1000].tolist() * 3), real)
    assert (f.key, f.columns, f.synthetic) == ("key", ("no",), pytest.approx(2 / 3))
    assert [f.key for f in verdict(compared(real, made)).findings] == ["ignored"]


def test_words_of_other_programs_are_read():
    real, made = crashes(1), crashes(2)
    other = made.assign(member=made.member.str.upper(), calls=made.calls.astype("string").fillna("NA"))
    assert verdict(compared(real, other)).findings == []
    f = first(made.assign(store=made.store.str.upper(), shift=made["shift"].replace("day", "Day")))
    assert (f.key, f.columns) == ("reworded", ("shift", "store"))


def test_a_value_that_no_list_has_is_called_by_its_name():
    made = crashes(2)
    found = verdict(compared(crashes(1), made.assign(store=made.store.replace("small", "_RARE_")))).findings
    assert {f.what["value"] for f in found if f.key == "share"} == {"_RARE_", "small"}


def test_a_share_is_compared_with_that_of_both_tables():
    """Of 25 values one is rare in the real table by chance, and not in a fresh sample: that is no finding."""
    rng = np.random.default_rng(0)
    real, made = (
        np.repeat([f"Z{k:02d}" for k in range(25)], sizes)
        for sizes in ([45] + [61] * 23 + [52], [86] + [59] * 23 + [57])
    )
    sides = [pd.DataFrame({"zone": rng.permutation(x)}) for x in (real, made)]
    assert [(x.zone == "Z00").mean().round(3) for x in sides] == [0.030, 0.057]
    frames = [x.assign(y=rng.integers(0, 9, len(x))) for x in sides]
    assert verdict(compared(*frames)).groups == []
    worse = frames[1].assign(zone=frames[1].zone.mask(rng.random(1500) < 0.08, "Z00"))
    assert [g.value for g in verdict(compared(frames[0], worse)).groups] == ["Z00"]


def test_an_effect_of_columns_that_say_the_same_weighs_what_it_says_by_itself():
    rng = np.random.default_rng(9)
    km, paid = rng.gamma(2, 3, N), rng.choice([0.8, 1.0], N)
    real = pd.DataFrame({"km": km.round(2), "price": (1 + km * paid).round(2), "member": np.where(paid < 1, "y", "n")})
    found = [e for e in effects(compared(real, real.iloc[::-1])) if e.outcome == "member" and e.column == "km"]
    rest = 1 - np.corrcoef(real.km, real.price)[0, 1] ** 2
    assert [e.own for e in found] == [pytest.approx(rest)] and abs(found[0].real) > 1


def test_an_outcome_that_only_two_columns_together_tell_is_no_longer_explained():
    """A price without the discount of members: neither distance nor price alone says who is one."""

    def trips(seed, *, discount):
        rng = np.random.default_rng(seed)
        km, member = rng.gamma(2, 3, N).round(2), rng.choice(["y", "n"], N, p=[0.7, 0.3])
        paid = np.where(member == "y", 0.8, 1.0) if discount else 0.94
        return pd.DataFrame({"km": km, "price": (1 + km * paid).round(2), "member": member})

    real = trips(1, discount=True)
    f = first(trips(2, discount=False), real)
    x = np.stack([np.ones(N), real.km, real.price], axis=1)
    y = (real.member == "y").astype(float)
    left = ((y - x @ np.linalg.lstsq(x, y, rcond=None)[0]) ** 2).sum() / ((y - y.mean()) ** 2).sum()
    assert (f.key, f.columns, f.real) == ("explained", ("member",), pytest.approx(1 - left * (N - 1) / (N - 3)))
    assert f.synthetic < 0.01
    assert verdict(compared(real, trips(3, discount=True))).findings == []


def test_a_shape_that_hardly_differs_explains_nothing():
    c = compared(crashes(1), crashes(2))
    for another, order in ((True, ["stretch", "mean"]), (False, ["mean", "stretch"])):
        listed = [Finding(key="mean", weight=0.3, columns=("age",)),
                  Finding(key="stretch", weight=0.1, columns=("age",), what={"another": another})]  # fmt: skip
        assert [f.key for f in sorted(_causes_first(c, listed), key=lambda f: -f.weight)] == order


def test_the_share_of_a_stretch_is_of_all_records_also_where_most_are_0_or_blank():
    """Most people did not work; of those who did, most worked all weeks, and in the synthetic table few."""

    def work(seed, whole):
        rng = np.random.default_rng(seed)
        weeks = np.where(rng.random(N) < whole, 52, rng.integers(1, 52, N))
        weeks = np.where(rng.random(N) < 0.6, 0, weeks)
        return pd.DataFrame({
            "weeks": pd.array(np.where(rng.random(N) < 0.2, np.nan, weeks), dtype="Int64"),
            "sex": rng.choice(["f", "m"], N),
        })  # fmt: skip

    real, made = work(1, 0.7), work(2, 0.2)
    tables = [pa.Table.from_pandas(x, preserve_index=False) for x in (real, made)]
    c = compare_tables(draft(tables[0], name="t"), tables[1], tables[0])
    found = next(f for f in verdict(c).findings if f.key in ("above", "share") and f.columns == ("weeks",))
    low = float(found.what["low"] if found.key == "above" else found.what["value"])
    shares = [
        float((x["weeks"].fillna(-1) > low if found.key == "above" else x["weeks"] == low).mean()) for x in (real, made)
    ]
    assert (found.real, found.synthetic) == pytest.approx(shares, abs=1e-9)
