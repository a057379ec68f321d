"""Rhythms of dates: what comes out, what goes in, what a draft proposes, and what rules do with them."""

import datetime

import numpy as np
import pyarrow as pa
import pytest

from dpsyn_core.errors import SchemaError
from dpsyn_core.schema.codec import Codec
from dpsyn_core.schema.drafts.draft import draft
from dpsyn_core.schema.drafts.proposals import agreed, propose
from dpsyn_core.schema.grids import OF_TIMES
from dpsyn_core.schema.misfit import misfits
from dpsyn_core.schema.rhythm import MONTHS, OF_DAYS, RHYTHMS, found_in, keeps
from dpsyn_core.schema.rules.repair import repair
from tests.schema.helpers import encode_one, num, schema

RNG = np.random.default_rng(0)
DAY = datetime.timedelta(days=1)


def of(rhythm, low="2019-01-01", high="2022-12-31", **more):
    return {"name": "day", "kind": "datetime", "min": low, "max": high, "rhythm": rhythm, **more}


def is_one(rhythm, day):
    """By the calendar of the standard library."""
    if rhythm == "weekdays":
        return day.weekday() < 5
    if rhythm == "no-sundays":
        return day.weekday() < 6
    if rhythm in RHYTHMS[1:8]:
        return day.weekday() == RHYTHMS[1:8].index(rhythm)
    period, end = rhythm.split("-")
    first = day + DAY if end == "end" else day
    return first.day == 1 and (first.month - 1) % MONTHS[period] == 0


@pytest.mark.parametrize("rhythm", OF_DAYS)
def test_every_decoded_date_is_a_day_of_the_rhythm_and_its_codes_come_back(rhythm):
    made = schema(of(rhythm))
    codes = np.arange(made["day"].size, dtype=np.uint16)[None, :].repeat(20, axis=1)
    out = Codec(made).decode(codes, rng=RNG)
    assert all(is_one(rhythm, d) for d in out.column("day").to_pylist())
    assert (Codec(made).encode(out).codes == codes).all()
    days = np.arange(17_000, 20_000)
    wanted = [is_one(rhythm, datetime.date(1970, 1, 1) + int(d) * DAY) for d in days]
    assert keeps(rhythm, days).tolist() == wanted


def test_a_day_beside_the_rhythm_counts_as_the_one_of_its_period():
    whole = ["2019-01-31", "2019-02-28"]
    assert encode_one(of("month-end"), ["2019-01-04", "2019-01-31", "2019-02-01", "2019-02-28"]) == [0, 0, 1, 1]
    assert encode_one(of("month-start"), ["2019-01-31", "2019-02-01", "2019-02-28"]) == [0, 1, 1]
    made = schema(of("month-end"))
    [found] = misfits(made, pa.table({"day": [*whole, "2019-02-14"]}))
    assert (found.count, found.goes, found.few) == (1, "date of the rhythm", ("2019-02-14",))
    assert "month-end" in found.sentence()


@pytest.mark.parametrize(
    ("bins", "size"), [({"every": "quarter"}, 16), ({"every": "year"}, 4), ({"count": 4}, 4), (None, 48)]
)
def test_declared_bins_hold_days_of_the_rhythm_alone(bins, size):
    made = schema(of("month-end", bins=bins) if bins else of("month-end"))
    assert made["day"].size == size and len(made["day"].labels()) == size
    out = Codec(made).decode(RNG.integers(0, size, (1, 400)), rng=RNG).column("day").to_pylist()
    assert all(is_one("month-end", d) for d in out) and len(set(out)) == 48
    middles = made["day"].middles()
    assert (np.diff(middles) > 0).all()


def test_quarters_are_bins_with_their_names():
    assert schema(of(None, bins={"every": "quarter"}))["day"].labels()[:5] == [
        "2019-Q1", "2019-Q2", "2019-Q3", "2019-Q4", "2020-Q1",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("attribute", "words"),
    [(of("year-end", "2019-01-01", "2019-05-01"), "no date of the rhythm 'year-end'"),
     (of("quarter-end", bins={"every": "month"}), "a bin holds no date of the rhythm"),
     (of("month-end", "2019-01-01T00:00:00", "2019-05-01T00:00:00"), "has a time of day"),
     (of("fortnight"), "rhythm")],
)  # fmt: skip
def test_a_rhythm_that_cannot_be_is_refused(attribute, words):
    with pytest.raises(SchemaError, match=words):
        schema(attribute)


def test_rules_move_dates_to_days_of_the_rhythm_alone():
    made = schema(
        of("month-end"), {**of("weekdays"), "name": "paid"}, num("wait", 0, 2000, 50),
        rules=[{"kind": "order", "lower": "day", "upper": "paid"},
               {"kind": "difference", "column": "wait", "of": "paid", "minus": "day"}],
    )  # fmt: skip
    codes = np.stack([RNG.integers(0, a.size, 3000) for a in made.coded])
    table = Codec(made).decode(codes, rng=RNG)
    fixed, _ = repair(table, made.rules, made, RNG)
    assert all(is_one("month-end", d) for d in fixed.column("day").to_pylist())
    assert all(is_one("weekdays", d) for d in fixed.column("paid").to_pylist())
    gaps = [(p - d).days for p, d in zip(fixed["paid"].to_pylist(), fixed["day"].to_pylist(), strict=True)]
    assert gaps == fixed["wait"].to_pylist()


@pytest.mark.parametrize("rhythm", OF_DAYS)
@pytest.mark.parametrize("form", ["%Y-%m-%d", "%d.%m.%Y"])
def test_a_draft_proposes_the_rhythm_that_all_dates_keep(rhythm, form):
    days = [d for i in range(3700) if is_one(rhythm, d := datetime.date(2019, 1, 1) + i * DAY)]
    table = pa.table({"day": [d.strftime(form) for d in days] * 3, "x": ["a", "b", "c"] * len(days)})
    drafted = draft(table, "t")
    [found, _] = propose(drafted, table)
    assert found.document["rhythm"] == rhythm
    made = agreed(drafted, [found])
    codec = Codec(made)
    back = codec.decode(codec.encode(table).codes, rng=RNG).column("day").to_pylist()
    back = [d if isinstance(d, datetime.date) else datetime.datetime.strptime(d, form).date() for d in back]
    assert all(is_one(rhythm, d) for d in back)


def test_days_that_keep_no_rhythm_or_are_few_have_none():
    assert found_in(np.arange(18_000, 18_100)) is None
    monday = np.array([4])
    assert found_in(monday) is None and found_in(np.array([4, 11, 18])) is None


def at(rhythm, low="2024-03-01T05:20:00", high="2024-03-09T21:55:10", **more):
    return {"name": "seen", "kind": "datetime", "min": low, "max": high, "rhythm": rhythm, **more}


@pytest.mark.parametrize("rhythm", OF_TIMES)
@pytest.mark.parametrize("high", ["2024-03-01T06:00:00", "2024-03-09T21:55:10", "2031-12-31T23:59:59"])
def test_every_decoded_time_is_of_the_rhythm_and_its_codes_come_back(rhythm, high):
    made = schema(at(rhythm, high=high))
    codes = np.arange(made["seen"].size, dtype=np.uint16)[None, :].repeat(5, axis=1)
    out = Codec(made).decode(codes, rng=RNG)
    seconds = out.column("seen").cast(pa.int64()).to_numpy()
    assert (seconds % OF_TIMES[rhythm] == 0).all() and len(made["seen"].labels()) == made["seen"].size <= 1100
    assert (Codec(made).encode(out).codes == codes).all()


def test_times_beside_their_rhythm_are_counted_for_the_owner_and_read_into_its_bins():
    assert encode_one(at("hours", high="2024-03-01T09:30:00"), ["2024-03-01 05:21:00", "2024-03-01 07:59:59"]) == [0, 1]
    [found] = misfits(schema(at("hours")), pa.table({"seen": ["2024-03-02 10:00:00", "2024-03-02 10:20:00"]}))
    assert found.count == 1 and "'hours' does not have" in found.sentence()


@pytest.mark.parametrize(
    ("document", "says"),
    [(at("hours", high="2024-03-01T05:50:00"), "no date of the rhythm 'hours'"),
     (at("hours", bins={"count": 800}), "a bin holds no date of the rhythm 'hours'"),
     (at("mondays"), "is of days"), (of("hours"), "is of times")],
)  # fmt: skip
def test_a_rhythm_of_times_that_cannot_be_is_refused_in_a_sentence(document, says):
    with pytest.raises(SchemaError, match=says):
        schema(document)


def valid_times(attribute, table):
    """Whether the drafted attribute describes every cell."""
    odd = attribute.unfit(table["seen"])
    return not (odd.blank | odd.unread | odd.outside | odd.off_rhythm).any()


@pytest.mark.parametrize(
    ("cell", "rhythm", "formats"),
    [("2024-03-{d:02} {h:02}:{m:02}", "minutes", ["%Y-%m-%d %H:%M"]),
     ("2024-03-{d:02}T{h:02}:00", "hours", ["%Y-%m-%dT%H:%M"]),
     ("2024-03-{d:02} {h:02}:{q:02}:00", "quarter-hours", None), ("2024-03-{d:02} {h:02}:{m:02}:07", None, None),
     ("2024-03-{d:02}T{h:02}:{m:02}:07", None, ["%Y-%m-%dT%H:%M:%S"]), ("{d:02}.03.2024 {h:02}:{q:02}", "quarter-hours",
     ["%d.%m.%Y %H:%M"]), ("2024-03-{d:02} {h:02}:{q:02}:00Z", "quarter-hours", None),
     ("2024-03-{d:02}T{h:02}:{m:02}:07Z", None, ["%Y-%m-%dT%H:%M:%SZ"]),
     ("2024-03-{d:02}T{h:02}:{m:02}:07.{m:03}Z", None, ["%Y-%m-%dT%H:%M:%S.%3fZ"]),
     ("2024-03-{d:02} {h:02}:{m:02}:07,{m:06}", None, ["%Y-%m-%d %H:%M:%S,%f"]),
     ("2024-03-{d:02} {h:02}:{m:02}:07+01:00", None, ["%Y-%m-%d %H:%M:%S+01:00"]),
     ("2024-03-{d:02}T{h:02}:{m:02}:07+0{z}:00", None, ["%Y-%m-%dT%H:%M:%S%:z"]),
     ("2024-03-{d:02} {h:02}:{m:02}:07 +0{z}00", None, ["%Y-%m-%d %H:%M:%S %z"]),
     ("2024-3-{d} {h}:{m:02}", "minutes", ["%Y-%-m-%-d %-H:%M"]),
     ("3/{d}/2024 {h}:{m:02}", "minutes", ["%-m/%-d/%Y %-H:%M"]),
     ("{d}.3.2024 {h:02}:{m:02}", "minutes", ["%-d.%-m.%Y %H:%M"])],
)  # fmt: skip
def test_a_draft_proposes_how_times_are_written_and_which_ones_can_be(cell, rhythm, formats):
    cells = [cell.format(d=1 + i % 31, h=i % 24, m=i * 7 % 60, q=15 * (i % 4), z=1 + i // 7 % 2) for i in range(200)]
    table = pa.table({"seen": cells, "kind": ["a", "b"] * 100})
    whole = draft(table, "t")
    drafted = whole.document()["attributes"][0]
    assert (drafted.get("rhythm"), drafted.get("formats") or None) == (rhythm, formats)
    assert valid_times(whole["seen"], table)
    [proposed, _] = propose(whole, table)
    assert proposed.document.get("rhythm") == rhythm and proposed.document["max"].startswith("2024-03-31T23:59")
    made = schema({**proposed.document, "source": "public"})
    out = Codec(made).decode(np.zeros((1, 3), dtype=np.uint16), rng=RNG)
    assert made["seen"].formats == tuple(formats or ()) and encode_one(
        made["seen"].document(), out.column(0).to_pylist()
    )


@pytest.mark.parametrize(
    ("cell", "formats"),
    [("2024-03-{d:02}T00:00:00Z", ["%Y-%m-%dT00:00:00Z"]), ("2024-03-{d:02} 00:00:00", ["%Y-%m-%d 00:00:00"]),
     ("2024-03-{d:02}T00:00:00.000+01:00", ["%Y-%m-%dT00:00:00.000+01:00"]), ("2024-3-{d}", ["%Y-%-m-%-d"]),
     ("{d}.3.2024", ["%-d.%-m.%Y"]), ("3/{d}/2024", ["%-m/%-d/%Y"]), ("3/{d:02}/2024", ["%-m/%d/%Y"]),
     ("{d:02}.03.2024", ["%d.%m.%Y"])],
)  # fmt: skip
def test_days_come_back_with_the_time_and_the_digits_that_all_of_them_have(cell, formats):
    table = pa.table({"seen": [cell.format(d=1 + i % 31) for i in range(200)], "kind": ["a", "b"] * 100})
    whole = draft(table, "t")
    assert whole["seen"].formats == tuple(formats) and not whole["seen"].precise and valid_times(whole["seen"], table)
    [proposed, _] = propose(whole, table)
    made = schema({**proposed.document, "source": "public"})
    codes = np.arange(made["seen"].size)[None, :-1].astype(np.uint16)
    back = set(Codec(made).decode(codes, rng=RNG).column(0).to_pylist())
    assert set(table["seen"].to_pylist()) - back == set()


def test_rules_move_times_to_times_of_the_rhythm():
    low, high = "2024-03-01T00:00:00", "2024-03-03T00:00:00"
    one = at("quarter-hours", low, high, formats=["%Y-%m-%d %H:%M"])
    ends = [one | {"name": n} for n in ("begins", "ends")]
    made = schema(*ends, rules=[{"kind": "order", "lower": "begins", "upper": "ends"}])
    codes = RNG.integers(0, made["begins"].size, (2, 300)).astype(np.uint16)
    table = repair(Codec(made).decode(codes, rng=RNG), made.rules, made, RNG)[0]
    begins, ended = (table.column(n).to_pylist() for n in ("begins", "ends"))
    assert all(a <= b for a, b in zip(begins, ended, strict=True))
    assert {t[-2:] for t in (*begins, *ended)} <= {"00", "15", "30", "45"}
