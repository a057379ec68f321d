"""What the report finds first: each fault of a table by itself, with figures that pandas finds in the two files."""

import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from dpsyn_core.errors import TableError
from dpsyn_core.evaluate import compare_tables, verdict
from dpsyn_core.report.verdict import sentence, verdict_entry
from dpsyn_core.report.wording import words
from dpsyn_core.schema import Schema

N = 1200
PLACES = {"Oslo": "Norway", "Bergen": "Norway", "Turku": "Finland", "Espoo": "Finland", "Lund": "Sweden"}


def stays(seed, n=N):
    rng = np.random.default_rng(seed)
    city = rng.choice(list(PLACES), n)
    begin = np.datetime64("2023-01-01") + rng.integers(0, 300, n)
    nights = 1 + rng.poisson(2, n)
    paid = np.where(rng.random(n) < 0.4, 0, np.round(rng.lognormal(5, 0.6, n))).astype(int)
    works = rng.choice(["yes", "no"], n, p=[0.6, 0.4])
    hours = np.where(works == "yes", rng.integers(10, 50, n), np.nan)
    return pd.DataFrame({
        "city": city, "country": [PLACES[c] for c in city], "begin": begin, "finish": begin + nights,
        "nights": nights, "paid": paid, "works": works, "hours": pd.array(hours, dtype="Int64"),
        "age": rng.integers(18, 90, n),
    })  # fmt: skip


def schema(**unit):
    return Schema.of({"version": 1, "name": "stays", **({"unit": unit} if unit else {}), "attributes": [
        {"name": "city", "kind": "categorical", "values": list(PLACES)},
        {"name": "country", "kind": "categorical", "values": ["Norway", "Finland", "Sweden"]},
        {"name": "begin", "kind": "datetime", "min": "2023-01-01", "max": "2024-12-31"},
        {"name": "finish", "kind": "datetime", "min": "2023-01-01", "max": "2024-12-31"},
        {"name": "nights", "kind": "numeric", "dtype": "integer", "min": 0, "max": 30},
        {"name": "paid", "kind": "numeric", "dtype": "integer", "min": 0, "max": 3000},
        {"name": "works", "kind": "categorical", "values": ["yes", "no"]},
        {"name": "hours", "kind": "numeric", "dtype": "integer", "min": 0, "max": 60, "missing": True},
        {"name": "age", "kind": "numeric", "dtype": "integer", "min": 18, "max": 90},
    ]})  # fmt: skip


def arrow(frame):
    return pa.Table.from_pandas(frame, preserve_index=False)


def found(made, real=None, described=None):
    real = stays(1) if real is None else real
    compared = compare_tables(described or schema(), arrow(made), arrow(real))
    json.dumps(verdict_entry(compared))  # no number of numpy is left in it
    return verdict(compared)


def of(kind, made):
    listed = found(made).findings
    assert kind in [f.key for f in listed], [f.key for f in listed]
    return next(f for f in listed if f.key == kind)


def test_a_fresh_sample_has_no_finding():
    assert found(stays(2)).findings == []


@pytest.mark.parametrize("part", [1.0, 0.5, 0.1])
def test_a_copy_is_an_alarm_and_comes_first(part):
    real, rows = stays(1), int(part * N)
    made = pd.concat([real.iloc[:rows], stays(2).iloc[rows:]]).sample(frac=1, random_state=1)
    result = found(made)
    assert result.findings[0] is result.alarm
    entry = verdict_entry(compare_tables(schema(), arrow(made), arrow(real)))["verdict"]
    assert entry["sentence"].startswith(entry["alarm"])
    assert not result.praises


def test_a_copy_with_small_noise_is_an_alarm():
    real = stays(1)
    assert found(real.assign(age=real.age + 1)).alarm is not None


def test_broken_functions_are_counted_as_pandas_counts_them():
    made = stays(2)
    made.loc[: N // 3, "country"] = "Sweden"
    f = of("function", made)
    assert f.columns == ("city", "country")
    assert f.synthetic == pytest.approx((made.country != made.city.map(PLACES)).mean())
    assert len(f.examples) == 3 and found(made).findings[0].key == "function"


def test_orders_and_times_between_are_counted_as_pandas_counts_them():
    made = stays(2)
    made.loc[: N // 3, ["begin", "finish"]] = made.loc[: N // 3, ["finish", "begin"]].to_numpy()
    assert of("order", made).synthetic == pytest.approx((made.begin > made.finish).mean())
    apart = (made.finish - made.begin).dt.days != made.nights
    assert of("between", made).synthetic == pytest.approx(apart.mean())
    third = stays(2).assign(nights=lambda x: x["nights"] + (np.arange(N) % 3 == 0))  # days of dates are whole
    assert of("between", third).synthetic == pytest.approx(1 / 3)


def test_a_filter_against_its_skips_is_counted_as_pandas_counts_it():
    made = stays(2)
    made["works"] = np.random.default_rng(3).permutation(made.works)
    f = of("filter_blank", made)
    assert f.synthetic == pytest.approx((made.hours.isna() != (made.works == "no")).mean())


def test_zeros_of_amounts_are_those_of_the_files():
    made = stays(2)
    made.loc[made.paid == 0, "paid"] = 50
    f = of("zeros", made)
    assert (f.real, f.synthetic) == (pytest.approx((stays(1).paid == 0).mean()), 0.0)


def test_fractions_where_whole_numbers_were_are_found():
    made = stays(2).assign(age=lambda x: x.age + 0.37)
    assert of("fractions", made).synthetic == 1.0 and found(made).findings[0].columns == ("age",)


def test_rows_beyond_the_limit_are_left_out_and_said_first():
    real = stays(1).assign(person=np.arange(N) // 8)
    described = schema(identifier="person", max_records=1)
    c = compare_tables(described, arrow(stays(2)), arrow(real))
    assert c.n == N // 8 and c.intake.limited == N - N // 8
    assert verdict(c).findings[0].key == "rows" and "150 of 1,200" in sentence(verdict(c))
    assert "150 von 1.200" in sentence(verdict(c), words("de"))


def test_foreign_tables_are_scored_as_far_as_they_fit():
    made = stays(2).drop(columns="age").rename(columns={"country": "Country."})
    made["begin"] = made.begin.dt.strftime("%d.%m.%Y")
    made["paid"] = "about " + made.paid.astype(str)
    c = compare_tables(schema(), arrow(made.reset_index(names="Unnamed: 0")), arrow(stays(1)))
    told = c.intake
    assert (told.lacking, told.unreadable, told.renamed) == (("age",), ("paid",), ("country",))
    assert (told.reformed, told.further) == (("begin",), ("Unnamed: 0",))
    assert c.exact("begin")[1][0] == (stays(2).begin[0] - pd.Timestamp("1970-01-01")).days
    assert verdict(c).findings[0].key == "lacking"
    with pytest.raises(TableError):
        compare_tables(schema(), arrow(pd.DataFrame({"other": [1, 2]})), arrow(stays(1)))


def test_a_proposed_rule_that_was_not_added_is_named():
    made = stays(2).rename(columns={"begin": "start_date", "finish": "end_date"})
    real = stays(1).rename(columns={"begin": "start_date", "finish": "end_date"})
    document = schema().document()
    for a in document["attributes"]:
        a["name"] = {"begin": "start_date", "finish": "end_date"}.get(a["name"], a["name"])
    made.loc[: N // 4, "end_date"] = made.start_date - pd.Timedelta(days=1)
    first = found(made, real, Schema.of(document)).findings[0]
    assert first.remedy == "proposed" and first.what["rule"] == "start_date <= end_date"


def test_the_sentence_never_keeps_relations_that_it_says_cannot_be_read():
    for code in ("en", "de"):
        for grade in ("bins", "shares"):
            assert "{kept}" not in words(code)[f"verdict_{grade}"]


def test_every_finding_has_a_sentence_and_every_remedy_words_in_all_languages():
    english, german = ({k for k in words(code) if k.startswith(("finding_", "remedy_"))} for code in ("en", "de"))
    assert english == german


def test_the_end_of_a_number_that_was_cut_is_found_though_it_has_no_zeros():
    def paid(seed):
        return stays(seed, 4 * N).assign(paid=np.random.default_rng(seed).lognormal(5, 0.6, 4 * N).astype(int) + 1)

    real, made = paid(1), paid(2).assign(paid=lambda x: x["paid"].clip(upper=int(x["paid"].quantile(0.9))))
    (f,) = [f for f in found(made, real).findings if f.key == "top"]
    assert (f.columns, f.real) == (("paid",), real["paid"].quantile(0.99))
    assert f.synthetic == made["paid"].quantile(0.99)


def test_numbers_that_came_out_in_few_steps_are_found():
    def paid(seed):
        return stays(seed).assign(paid=np.random.default_rng(seed).integers(0, 3000, N))

    made = paid(2).assign(paid=lambda x: x["paid"] // 100 * 100)
    (f,) = [f for f in found(made, paid(1)).findings if f.key == "coarser"]
    assert (f.columns, f.synthetic, f.real) == (("paid",), made["paid"].nunique(), paid(1)["paid"].nunique())


def test_a_course_that_is_turned_round_names_the_months_of_both_tables():
    def warm(seed, sign):
        frame = stays(seed)
        month = frame["begin"].dt.month
        return frame.assign(age=(50 + sign * 20 * np.cos((month - 5) / 12 * 2 * np.pi)).round().astype(int))

    listed = found(warm(2, -1), warm(1, 1)).findings
    (f,) = [f for f in listed if f.key == "course_month" and f.columns == ("age", "begin")]
    real, made = (warm(s, g).groupby(warm(s, g)["begin"].dt.month)["age"].mean() for s, g in ((1, 1), (2, -1)))
    assert (f.what["at"], f.what["here_at"]) == (real.idxmax(), made.idxmax())


def test_a_filter_that_explains_all_blank_cells_comes_before_their_share():
    keys = [f.key for f in found(stays(2).assign(hours=lambda x: x["hours"].fillna(20))).findings]
    assert keys.index("filter_blank") < keys.index("blank")


def test_a_pair_that_chance_makes_unique_is_no_key():
    rng = np.random.default_rng(4)

    def times(n=N):
        days = np.datetime64("2023-01-01T00:00:00") + rng.integers(0, 300 * 86_400, n)
        return pd.DataFrame({"time": days.astype("datetime64[s]"), "works": rng.choice(["yes", "no"], n)})

    described = Schema.of({"version": 1, "name": "times", "attributes": [
        {"name": "time", "kind": "datetime", "min": "2023-01-01T00:00:00", "max": "2023-12-31T23:59:59"},
        {"name": "works", "kind": "categorical", "values": ["yes", "no"]},
    ]})  # fmt: skip
    real = times().drop_duplicates("time")
    made = times().assign(time=lambda x: x["time"].dt.normalize())
    keys = [f.key for f in found(made, real, described).findings]
    assert "coarser" in keys and "key" not in keys


def test_other_numbers_than_those_of_a_list_are_fractions_and_not_unreadable():
    described = Schema.of({"version": 1, "name": "one", "attributes": [
        {"name": "units", "kind": "categorical", "values": [1, 2, 3, 4], "ordered": True},
        {"name": "works", "kind": "categorical", "values": ["yes", "no"]},
    ]})  # fmt: skip
    rng = np.random.default_rng(6)
    real, made = (pd.DataFrame({"units": rng.integers(1, 5, N), "works": rng.choice(["yes", "no"], N)}) for _ in "ab")
    keys = [f.key for f in found(made.assign(units=made["units"] + 0.5), real, described).findings]
    assert "fractions" in keys and "unreadable" not in keys


def test_where_records_cannot_be_the_sentence_praises_no_relation():
    made = stays(2)
    wrong = made.assign(country=made["country"].where(np.random.default_rng(1).random(N) > 0.08, "Sweden"))
    listed = found(wrong)
    assert listed.findings[0].impossible and listed.relations_kept > 0.8
    for code, praise in (("en", "Keeps"), ("de", "Behält")):
        said = sentence(listed, words(code))
        assert praise not in said and words(code)["verdict_kept_impossible"].split(",")[0] in said


def test_the_gap_between_groups_that_is_lost_is_a_finding_as_in_its_figure():
    from dpsyn_core.evaluate import group_gaps, uses

    rng = np.random.default_rng(3)

    def pay(apart):
        works = rng.choice(["yes", "no"], N)
        return stays(1).assign(works=works, paid=(1500 + apart * (works == "yes") + rng.normal(0, 200, N)).astype(int))

    c = compare_tables(schema(), arrow(pay(30)), arrow(pay(600)))
    (f,) = [f for f in verdict(c).findings if f.key in ("gaps", "pay_gap")]
    shown = group_gaps(c)
    assert shown.grade == "lost" and f.columns == (shown.column, shown.by) and f.synthetic == max(0.0, shown.kept)
    assert "gaps" in dict(uses(c).bad)


def test_records_that_cannot_be_come_before_the_mean_that_moved_with_them():
    made = stays(2)
    early = made.assign(finish=made["begin"] - pd.Timedelta(days=40))
    keys = [f.key for f in found(early).findings]
    assert keys[0] in ("order", "between") and keys.index("order") < keys.index("date")


def test_a_column_that_says_the_same_as_an_outcome_does_not_explain_it():
    from dpsyn_core.evaluate import effects

    rng = np.random.default_rng(8)
    grade = rng.choice(["a", "b", "c"], N)
    frame = pd.DataFrame(
        {"grade": grade, "passed": np.where(grade == "c", "no", "yes"), "age": rng.integers(18, 60, N)}
    )
    described = Schema.of(
        {
            "version": 1,
            "name": "marks",
            "attributes": [
                {"name": "grade", "kind": "categorical", "values": ["a", "b", "c"]},
                {"name": "passed", "kind": "categorical", "values": ["yes", "no"]},
                {"name": "age", "kind": "numeric", "dtype": "integer", "min": 18, "max": 60},
            ],
        }
    )
    mixed = frame.assign(grade=rng.permutation(grade))
    listed = effects(compare_tables(described, arrow(mixed), arrow(frame)))
    assert not [e for e in listed if e.outcome == "passed" and e.column == "grade"]


def test_blank_cells_that_were_filled_come_before_the_value_that_fills_them():
    def third(seed, value):  # in every third record the value, in all others what a record has
        return stays(seed).assign(works=stays(seed)["works"].where(np.arange(N) % 3 > 0, value), hours=10)

    described = schema().model_dump(mode="json")
    next(a for a in described["attributes"] if a["name"] == "works")["missing"] = True
    made = third(3, "yes")
    listed = found(
        made.assign(works=made["works"].where(np.arange(N) % 20 > 0, "yes")), third(2, None), Schema.of(described)
    ).findings
    keys = [f.key for f in listed if "works" in f.columns]
    assert keys.index("blank") < keys.index("share")


def test_an_order_that_values_of_another_size_break_comes_after_these():
    age = np.random.default_rng(4).integers(40, 110, N)
    real = stays(1).assign(age=age, nights=age // 40, paid=age + np.random.default_rng(5).integers(0, 60, N))
    made = real.sample(frac=1, random_state=1).assign(age=lambda x: x["age"] * 4)
    keys = [f.key for f in found(made, real, wide()).findings if "age" in f.columns]
    assert keys.index("outside") < keys.index("order")


def wide():
    described = schema().model_dump(mode="json")
    for a in described["attributes"]:
        if a["name"] == "age":
            a["max"] = 1000
    return Schema.of(described)


def test_a_column_that_only_chance_makes_a_key_has_no_course_in_time():
    from dpsyn_core.evaluate.dependent_rows import series_key

    rng = np.random.default_rng(6)
    day = np.datetime64("2023-01-01") + rng.integers(0, 300, N)
    people = stays(1).assign(begin=day, age=rng.integers(18, 90, N))
    assert series_key(compare_tables(schema(), arrow(stays(2)), arrow(people)), "begin") is None
    each = np.arange(N)
    panel = people.assign(begin=np.datetime64("2023-01-01") + each // 40, age=18 + each % 40)
    assert series_key(compare_tables(schema(), arrow(stays(2)), arrow(panel)), "begin") == "age"


def test_of_three_columns_the_one_that_is_related_to_neither_of_the_others_is_named():
    rng = np.random.default_rng(5)
    common = rng.normal(0, 1, N)
    real = pd.DataFrame({n: np.round(50 + 10 * (common + rng.normal(0, 0.3, N))).clip(0, 100) for n in "abc"})
    whole = {"kind": "numeric", "dtype": "integer", "min": 0, "max": 100}
    described = Schema.of({"version": 1, "name": "three", "attributes": [{"name": n, **whole} for n in "abc"]})
    made = real.astype(int).sample(frac=1.0, random_state=1, ignore_index=True)
    shuffled = made.assign(c=rng.permutation(made["c"]))
    named = [f.columns for f in found(shuffled, real.astype(int), described).findings if f.key == "unrelated"]
    assert named == [("c",)]
