"""The verdict names what was done to a copy of a table, and nothing that pandas does not find in the two files."""

import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from dpsyn_core.evaluate.loader import compare_tables
from dpsyn_core.evaluate.profile import profiles
from dpsyn_core.evaluate.shifts import means
from dpsyn_core.evaluate.verdicts import verdict
from dpsyn_core.report.verdict import sentence, verdict_entry
from dpsyn_core.report.wording import ENGLISH
from dpsyn_core.schema.document import Schema
from ui.shared.text import catalogue

N = 3000
SCHEMA = Schema.of({
    "version": 1, "name": "flats",
    "attributes": [
        {"name": "area", "kind": "numeric", "dtype": "float", "min": 0, "max": 300},
        {"name": "rent", "kind": "numeric", "dtype": "float", "min": 0, "max": 5000},
        {"name": "heating", "kind": "categorical", "values": ["gas", "pump", "wood"]},
        {"name": "owner", "kind": "categorical", "values": ["city", "firm", "person"]},
        {"name": "rooms", "kind": "categorical", "values": [1, 2, 3, 4, 5]},
        {"name": "since", "kind": "datetime", "min": "2010-01-01", "max": "2025-12-31"},
        {"name": "street", "kind": "categorical", "values": [f"s{i}" for i in range(40)]},
    ],
})  # fmt: skip


def flats(seed=1):
    rng = np.random.default_rng(seed)
    area = rng.gamma(6, 12, N).clip(10, 290).round(1)
    owner = rng.choice(["city", "firm", "person"], N)
    heating = np.where(rng.random(N) < 0.7, np.array(["gas", "pump", "wood"])[np.arange(N) % 3], "gas")
    owner = np.where(heating == "pump", "firm", owner)
    return pd.DataFrame({
        "area": area, "rent": (9 * area + rng.normal(0, 60, N)).clip(50, 4000).round(2), "heating": heating,
        "owner": owner, "rooms": np.clip(area // 25, 1, 5).astype(int),
        "since": (pd.Timestamp("2012-01-01") + pd.to_timedelta(rng.integers(0, 3000, N), "D")).strftime("%Y-%m-%d"),
        "street": rng.choice([f"s{i}" for i in range(40)], N),
    })  # fmt: skip


def compared(made, real=None):
    real = flats() if real is None else real
    return compare_tables(
        SCHEMA, pa.Table.from_pandas(made, preserve_index=False), pa.Table.from_pandas(real, preserve_index=False)
    )


def again(seed=2):
    return flats().sample(N, replace=True, random_state=seed).reset_index(drop=True)


def test_a_mean_that_moved_loses_no_relation():
    made = again()
    made["rent"] = (made.rent * 1.3).round(2)
    found = verdict(compared(made))
    assert found.relations_kept > 0.95 and not found.lost
    assert "rent: mean" in sentence(found) and not found.praises


def test_a_category_by_category_relation_that_was_destroyed_is_named_with_its_figures():
    made = again()
    made["owner"] = np.random.default_rng(3).permutation(made.owner)
    found = verdict_entry(compared(made))["verdict"]
    (pair,) = [x for x in found["lost"] if set(x["columns"]) == {"heating", "owner"}]
    assert pair["measure"] == "Cramer's V less chance" and pair["real"] - pair["synthetic"] > 0.3
    assert f"Cramer's V of heating and owner {pair['real']:.2f}, here {pair['synthetic']:.2f}" in found["sentence"]


def test_a_relation_of_a_category_and_a_date_is_named_by_a_figure_of_the_dates_and_not_of_their_bins():
    real = flats()
    late = real.owner.map({"city": 0, "firm": 700, "person": 1400})
    real["since"] = (pd.Timestamp("2012-01-01") + pd.to_timedelta(late + np.arange(N) % 300, "D")).dt.strftime(
        "%Y-%m-%d"
    )
    made = real.assign(since=np.random.default_rng(5).permutation(real.since))
    found = verdict_entry(compared(made, real))["verdict"]
    (pair,) = [x for x in found["lost"] if set(x["columns"]) == {"owner", "since"}]
    assert pair["measure"] == "correlation ratio"
    for frame, said in ((real, pair["real"]), (made, pair["synthetic"])):
        days = pd.to_datetime(frame.since).astype("int64") / 8.64e13
        between = ((days.groupby(frame.owner).transform("mean") - days.mean()) ** 2).sum()
        assert said == pytest.approx(np.sqrt(between / ((days - days.mean()) ** 2).sum()), rel=1e-6)


def test_dates_that_were_shifted_are_named_with_their_means():
    real, made = flats(), again()
    made["since"] = (pd.to_datetime(made.since) + pd.Timedelta(days=200)).dt.strftime("%Y-%m-%d")
    found = verdict_entry(compared(made))["verdict"]
    ((column, left, right),) = [(x["column"], x["real"], x["synthetic"]) for x in found["dates"]]
    assert column == "since"
    for frame, said in ((real, left), (made, right)):
        assert abs((pd.to_datetime(frame.since).mean() - pd.Timestamp(said)).total_seconds()) <= 86_400
    assert f"since: mean date {left}, here {right}" in found["sentence"]


def test_a_mean_time_is_said_with_a_space_between_day_and_time_and_kept_as_iso_8601_in_the_document():
    frame = pd.DataFrame({"at": pd.Timestamp("2024-03-01 08:00") + pd.to_timedelta(np.arange(900) * 7, "min")})
    later = frame + pd.Timedelta(hours=30)
    schema = Schema.of({"version": 1, "name": "t", "attributes": [
        {"name": "at", "kind": "datetime", "min": "2024-03-01T00:00:00", "max": "2024-03-31T00:00:00"}]})  # fmt: skip
    made, real = (pa.table({"at": x["at"].dt.strftime("%Y-%m-%d %H:%M:%S").tolist()}) for x in (later, frame))
    c = compare_tables(schema, made, real)
    assert "at: mean date 2024-03-03 12:26, here 2024-03-04 18:26" in sentence(verdict(c))
    german = {**ENGLISH, "decimal_mark": ","}
    assert "at: mean date 03.03.2024 12:26, here 04.03.2024 18:26" in sentence(verdict(c), german)
    assert [x["real"] for x in verdict_entry(c)["verdict"]["dates"]] == ["2024-03-03T12:26"]


def test_days_that_were_lost_are_named_in_both_languages():
    real, made = flats(), again()
    days = pd.to_datetime(real.since)
    real["since"] = days.where(days.dt.dayofweek != 6, days - pd.Timedelta(days=1)).dt.strftime("%Y-%m-%d")
    c = compared(made, real)
    ((column, day, left, right),) = [tuple(x.values()) for x in verdict_entry(c)["verdict"]["days"]]
    assert (column, day, left) == ("since", "sundays", 0)
    assert right == (pd.to_datetime(made.since).dt.day_name() == "Sunday").mean()
    assert f"since: 0.0% of the dates on Sundays, here {100 * right:.1f}%" in sentence(verdict(c))
    words = {k.removeprefix("figure."): v for k, v in catalogue("de").items()}
    assert "since: 0,0\N{NO-BREAK SPACE}% der Daten an Sonntagen" in sentence(verdict(c), words)
    assert not verdict(compared(again())).days, "a fresh sample keeps its weekdays"
    made["since"] = (days + pd.offsets.MonthEnd(0)).dt.strftime("%Y-%m-%d")
    assert [x.day for x in verdict(compared(made)).days] == ["month-end"]


@pytest.mark.parametrize("column", ["rent", "owner", "rooms", "since", "street"])
def test_a_column_that_was_blanked_is_judged_and_named(column):
    made = again()
    made[column] = None
    c = compared(made)
    found = verdict_entry(c)["verdict"]
    assert {"column": column, "real": 0.0, "synthetic": 1.0} in found["blanks"]
    assert f"{column}: 0.0% of the cells blank, here 100.0%" in found["sentence"]
    assert all(x["synthetic"] is None for x in found["lost"] if column in x["columns"] and x["measure"][:6] != "Cramer")
    json.dumps(found, allow_nan=False)


def test_a_value_that_was_dropped_is_named_however_long_its_list():
    made = again()
    made = made[made.street != "s7"].sample(N, replace=True, random_state=1)
    said = sentence(verdict(compared(made)))
    assert f"street = s7: {100 * (flats().street == 's7').mean():.1f}% of the records, here 0.0%" in said


def test_records_that_are_all_the_same_are_called_so():
    made = pd.concat([flats().iloc[[5]]] * N, ignore_index=True)
    found = verdict_entry(compared(made))["verdict"]
    assert found["relations_kept"] == 0 and "all records are the same" in found["sentence"]
    assert found["one_value"] == list(made.columns)
    made = again()
    made["heating"] = "gas"
    assert "heating: gas in all records, where the real table has 3 values" in sentence(verdict(compared(made)))


def test_numbers_that_are_not_listed_count_as_they_are_written():
    real, made = flats(), again()
    real.loc[:9, "rooms"] = 9  # ten records of a value that the schema does not list
    made["rooms"] += 1
    c = compared(made, real)
    rooms = next(p for p in profiles(c) if p.column == "rooms")
    assert rooms.synthetic.mean == pytest.approx(made.rooms.mean()) and rooms.synthetic.missing == 0
    assert (rooms.synthetic.distinct, rooms.synthetic.quantiles[-1]) == (made.rooms.nunique(), made.rooms.max())
    assert rooms.real.mean == pytest.approx(real.rooms.mean())
    assert [m.column for m in means(c)] == ["rooms"]


def test_a_fresh_sample_of_a_heavy_tail_has_no_mean_that_moved():
    schema = Schema.of({
        "version": 1, "name": "orders", "attributes": [
            {"name": "orders", "kind": "numeric", "dtype": "integer", "min": 0, "max": 100_000},
            {"name": "kind", "kind": "categorical", "values": ["many", "few"]},
        ],
    })  # fmt: skip
    rng = np.random.default_rng(6)
    real = pd.DataFrame({"orders": (1 + 2 * rng.pareto(1.1, N)).astype(int).clip(0, 99_999),
                         "kind": rng.choice(["many", "few"], N, p=[0.96, 0.04])})  # fmt: skip
    blamed = 0
    for seed in range(100):
        made = real.sample(N, replace=True, random_state=seed)
        c = compare_tables(schema, pa.Table.from_pandas(made), pa.Table.from_pandas(real))
        found = verdict(c)
        blamed += bool(found.means or found.groups)
    assert blamed <= 2


def test_every_word_of_a_change_stands_in_german():
    words = catalogue("de")
    for name in ("ratio", "v", "date", "blank", "same", "fixed", "fixed_more", "shares"):
        assert f"verdict_{name}" in json.dumps(words)


def test_a_mean_that_a_few_large_amounts_had_made_is_named_when_they_are_gone():
    """That some amounts lie far above makes a mean too high by chance, but not too low."""
    rng = np.random.default_rng(5)
    real, made = flats(), again()
    real["rent"] = np.minimum(np.exp(rng.normal(4.5, 1.3, N)), 5000).round(2)
    made["rent"] = np.minimum(real.rent, 700)
    made["owner"] = rng.permutation(made.owner)  # so that something has moved beyond any doubt
    (named,) = verdict(compared(made, real)).means
    assert (named.column, named.synthetic) == ("rent", pytest.approx(made.rent.mean()))
    assert 5.4 < (real.rent.mean() - made.rent.mean()) / real.rent.std() * np.sqrt(N) < 5.8, "more than chance, alone"


def test_a_value_that_no_real_record_has_is_named():
    schema = Schema.of({"version": 1, "name": "t", "attributes": [
        {"name": "way", "kind": "categorical", "values": ["post", "phone"], "other": True},
        {"name": "x", "kind": "numeric", "dtype": "integer", "min": 0, "max": 9},
    ]})  # fmt: skip
    rng = np.random.default_rng(1)
    real = pd.DataFrame({"way": rng.choice(["post", "phone"], N), "x": rng.integers(0, 10, N)})
    for share, named in ((0.017, True), (0.004, False)):
        made = real.sample(N, replace=True, random_state=3).reset_index(drop=True)
        made.loc[: int(share * N), "way"] = "(other)"
        said = sentence(verdict(compare_tables(schema, pa.Table.from_pandas(made), pa.Table.from_pandas(real))))
        assert ("way = (other): 0.0% of the records, here 1.7%" in said) == named
