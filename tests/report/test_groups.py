"""Groups and columns in words: order, limits and figures of every cell, with differences that are given by hand."""

from types import SimpleNamespace

import numpy as np
import pytest

from dpsyn_core.evaluate.profile import QUANTILES, ColumnProfile, Figures
from dpsyn_core.evaluate.small_groups import GroupError
from dpsyn_core.report import profile
from dpsyn_core.report.amounts import amount, fine, instant, percent, told_apart
from dpsyn_core.report.wording import ENGLISH

C = SimpleNamespace(synthetic_values={}, date_units={})


def gap(column, values, sizes, real, synthetic, *, deviation=1.0, far=(), kept=None, pulled=False, category="town"):
    return SimpleNamespace(
        column=column, category=category, values=values, sizes=np.array(sizes), real=real, synthetic=synthetic,
        deviation=deviation, moved=np.array([v in far for v in values]), kept=kept, pulled=pulled,
    )  # fmt: skip


@pytest.fixture
def gaps(monkeypatch):
    made = []
    monkeypatch.setattr(profile.moved, "gaps", lambda _: made)
    monkeypatch.setattr(profile.moved, "groups", lambda _: [None] * 1200)
    return made


def test_means_beyond_chance_come_first_then_the_farthest_and_lost_groups_last(gaps):
    gaps += [
        gap(
            "pay",
            ["a", "b", "c", "d"],
            [[9, 1200, 5, 4], [3, 4, 0, 9]],
            [1.0, 10, 2, 0],
            [2.0, 14, np.nan, 9],
            deviation=4,
        ),
        gap("age", ["a", "b"], [[50, 5], [9, 9]], [40.0, 41], [42.0, 41.5], far=("b",), deviation=0.0),
    ]
    assert profile.gap_rows(C) == [
        ["age", "town", "b", "5", "41", "41.5"],
        ["age", "town", "a", "50", "40", "42"],
        ["pay", "town", "b", "1,200", "10", "14"],
        ["pay", "town", "a", "9", "1", "2"],
        ["pay", "town", "c", "5", "2", "–"],
    ]


def test_differences_that_shrank_are_said_the_largest_first(gaps):
    def one(column, kept, **more):
        return gap(column, ["a", "b"], [[9, 4], [9, 9]], [1.0, 2], [1.0, 2], far=("a",), kept=kept, pulled=True, **more)

    gaps += [one("x", 0.5), one("y", -0.2), one("z", 0.9), one("w", None), one("u", 2.5)]
    gaps.append(gap("v", ["a"], [[9], [9]], [1.0], [1.0], kept=0.1, far=("a",)))  # not drawn together
    gaps.append(gap("t", ["a"], [[9], [9]], [1.0], [1.0], kept=0.1, pulled=True))  # none beyond chance
    *found, last = profile.gap_sentences(C, most=3)
    sought = [("u", "250%"), ("y", "0%"), ("x", "50%")]
    assert found == [ENGLISH["gaps_pulled"].format(column=n, category="town", kept=k) for n, k in sought]
    assert last == ENGLISH["gaps_moved"].format(count="1,200", all="7")


def test_groups_without_a_synthetic_record_are_lost_from_five_records_on(gaps):
    gaps.append(gap("pay", ["a", "b", "c", "d"], [[5, 4, 9, 50], [0, 0, 2, 0]], [0] * 4, [0] * 4))
    gaps.append(gap("age", ["a", "b", "c", "d"], [[3, 4, 1, 9], [0, 0, 0, 1]], [0] * 4, [0] * 4))
    gaps.append(gap("age", ["a"], [[0], [0]], [0], [0], category="sex"))
    assert profile.lost_groups(C) == ENGLISH["gaps_lost"].format(least=5, groups="town a")
    gaps.clear()
    assert profile.lost_groups(C) == ""


def group(value, real, error, floor=0.01):
    return GroupError(value=value, real=real, synthetic=float(real), error=error, floor=floor)


def test_the_smaller_half_of_the_groups_stands_against_the_larger():
    rows = [group("a", 1000, 0.1), group("b", 500, 0.2, 0.02), group("c", 300, 0.4, 0.03), group("d", 100, 0.6, 0.07)]
    sought = {
        "column": "town", "small": 2, "most": "300", "error": percent((120 + 60) / 400), "floor": percent(16 / 400),
        "other": percent((100 + 100) / 1500), "other_floor": percent(20 / 1500), "large": 2,
    }  # fmt: skip
    assert profile.groups_sentence(rows, "town", ENGLISH) == ENGLISH["groups_two"].format(**sought)
    three = profile.groups_sentence(rows[:3], "town", ENGLISH)
    sought |= {"small": 1, "error": "40.0%", "floor": "3.0%", "other": percent(200 / 1500), "large": 2}
    assert three == ENGLISH["groups_two"].format(**sought)
    one = profile.groups_sentence(rows[:1], "town", ENGLISH)
    assert one == ENGLISH["groups_one"].format(column="town", error="10.0%", floor="1.0%")


def test_sentences_name_their_table_where_there_are_several(monkeypatch):
    rows = [group("a", 10, 0.1)]
    monkeypatch.setattr(profile, "group_errors", lambda c, name: rows)
    monkeypatch.setattr(profile.figures, "group_errors", lambda name, every, text, words: (name, every, text))
    said = profile.groups_sentence(rows, "town", ENGLISH)
    assert profile.groups_figure({"x": C}, "town") == ("town", {"x": rows}, said)
    assert profile.groups_figure({"x": C, "y": C}, "town")[2] == f"x: {said} y: {said}"


def test_records_are_grouped_by_two_to_two_hundred_values_categories_first(monkeypatch):
    def column(size, number=False, special=0):
        return SimpleNamespace(size=size, number=number, special=special)

    known = {"n": column(9, number=True), "one": column(2, special=1), "two": column(3, special=1),
             "most": column(201, special=1), "many": column(201), "bad": column(5)}  # fmt: skip

    class Names(dict):
        names = tuple(known)

    def errors(c, name):
        if name == "bad":
            raise profile.MetricError("no")

    monkeypatch.setattr(profile, "group_errors", errors)
    assert profile.grouping(SimpleNamespace(domain=Names(known))) == ["two", "most", "n"]


def test_two_figures_stand_in_one_cell_with_the_digits_that_tell_them_apart():
    both = profile.both
    assert both(1.0, 1.0) == "1 / 1" and both(1234.5, 1236.0) == "1,234 / 1,236"
    assert both(0.12341, 0.12349) == "0.1234 / 0.1235" and both(0.123411, 0.123412) == "0.1234 / 0.1234"
    assert both(None, None) == "–" and both(2.0, None) == "2 / –" and both(None, "a") == "– / a"
    assert both("2020-01-01T10:00:00", "2020-01-01T11:30:00") == "2020-01-01 10:00 / 11:30"
    assert both("2020-01-01T10:00:00", "2020-01-02T11:30:00") == "2020-01-01 / 2020-01-02"
    assert (
        both("Toy", "Tin") == "Toy / Tin" and both("2020-01-01", "2020-01-02T03:04") == "2020-01-01 / 2020-01-02T03:04"
    )


def figures(missing, distinct, at, **more):
    return Figures(missing=missing, distinct=distinct, quantiles=tuple(at + i for i in range(len(QUANTILES))), **more)


def profiled(monkeypatch, *columns):
    made = [
        ColumnProfile(column=name, real=real, synthetic=synthetic, wrong=wrong)
        for name, real, synthetic, wrong in columns
    ]
    monkeypatch.setattr(profile, "profiles", lambda _: made)


def test_a_row_of_a_profile_has_every_figure_of_both_tables(monkeypatch):
    real = figures(0.25, 1500, 10.0, unlisted=True, mean=12.0, deviation=3.0)
    profiled(monkeypatch, ("pay", real, figures(0.005, 9, 20.0, mean=13.0, deviation=3.0), ("missing", "mean")))
    [row] = profile.profile_rows(C)
    at = [QUANTILES.index(q) for q in (0.0, 0.5, 0.95, 1.0)]
    assert row[:5] == ["pay", "25.0% / 0.50%", "≥ 1,500 / 9", "12 / 13", "3 / 3"]
    assert row[5:9] == [f"{10 + i} / {20 + i}" for i in at]
    assert row[9] == f"{ENGLISH['profile_missing']}, {ENGLISH['profile_mean']}"


def test_blank_cells_are_drawn_by_column_where_any_table_has_some(monkeypatch):
    rows = [("none", 0.0, 0.0), ("gone", 0.1, 0.0), ("more", 0.2, 0.25), ("far", 0.0, 0.3)]
    profiled(monkeypatch, *((n, figures(r, 1, 0.0), figures(s, 1, 0.0), ()) for n, r, s in rows))
    drawn = profile.missing_figure({"run": C})
    assert [d["x"] for d in drawn.data] == [[0.1, 0.2, 0.0], [0.0, 0.25, 0.3]]
    assert drawn.caption == ENGLISH["missing_caption"].format(count=3, column="far", real="0.0%", synthetic="30.0%")
    assert drawn.layout["height"] == 110 + 16 * 3 * 3
    assert [d["marker"]["color"] for d in drawn.data] == ["@real", profile.SERIES[0]]
    again = profile.missing_figure({"a": C, "b": C})
    assert [d["marker"]["color"] for d in again.data] == ["@real", *profile.SERIES[:2]]
    assert again.layout["height"] == 110 + 16 * 4 * 3
    assert drawn.layout["barmode"] == "group" and not drawn.layout["yaxis"]["showgrid"]
    profiled(monkeypatch, ("far", figures(0.0, 1, 0.0), figures(0.3, 1, 0.0), ()))
    sought = ENGLISH["missing_caption_one"].format(count=1, column="far", real="0.0%", synthetic="30.0%")
    assert profile.missing_figure({"run": C}).caption == sought


def test_of_many_columns_the_forty_that_differ_most_are_drawn_in_their_order(monkeypatch):
    off = [(i * 17 % 50) / 100 for i in range(50)]
    profiled(monkeypatch, *((f"c{i}", figures(0.5, 1, 0.0), figures(0.5 - x, 1, 0.0), ()) for i, x in enumerate(off)))
    drawn = profile.missing_figure({"run": C})
    assert drawn.data[1]["x"] == [0.5 - x for x in off if x >= 0.1]


def test_shares_of_variance_are_said_with_what_fresh_samples_have(monkeypatch):
    one = SimpleNamespace(column="pay", by="town", groups=12, real=0.25, synthetic=0.1, fresh=(0.2, 0.3), far=True)
    monkeypatch.setattr(profile, "group_variances", lambda _: [one])
    sought = ENGLISH["variance_between"].format(
        column="pay", by="town", groups=12, real="25.0%", synthetic="10.0%", low="20.0%", high="30.0%"
    )
    assert profile.variance_sentences(C) == [(sought, True)]


def test_amounts_are_written_as_people_write_them():
    minus = "\N{MINUS SIGN}"
    assert [amount(x) for x in (0, 99.4, 100, -1234.5, 0.00123456, -0.5)] == [
        "0",
        "99.4",
        "100",
        f"{minus}1,234",
        "0.00123",
        f"{minus}0.5",
    ]
    assert amount(1e17) == "1e+17" and amount(99e15) == "99,000,000,000,000,000" and amount(9.996, 2) == "10"
    assert amount(1999.0, of="year") == "1999" and amount(1999.0, of="pay") == "1,999"
    assert [percent(x) for x in (0, 0.01, 0.0099, 0.5)] == ["0.0%", "1.0%", "0.99%", "50.0%"] and percent(
        0.123, 0
    ) == "12%"
    assert [fine(x) for x in (0.456, -0.456, -0.001, 0.0)] == ["0.46", f"{minus}0.46", "0.00", "0.00"]
    assert told_apart(1.0001, 1.0002) == ("1.0001", "1.0002") and told_apart(1.0001, 1.0002, most=4) == ("1", "1")
    assert told_apart(5.0, 5.0) == ("5", "5")
    assert instant(86_399.6, precise=False) == "1970-01-02" and instant(3661, precise=True) == "1970-01-01T01:01"
