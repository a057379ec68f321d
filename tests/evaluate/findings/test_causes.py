"""What comes first where one fault of a table shows in several figures; blank cells by group, and sums of sums."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from dpsyn_core.evaluate import compare_tables, verdict
from dpsyn_core.report.finding_words import finding_words
from dpsyn_core.report.wording import words
from dpsyn_core.schema import Schema, draft

N = 3000


def found(real, made):
    tables = [pa.Table.from_pandas(x, preserve_index=False) for x in (real, made)]
    document = draft(tables[0], name="t").document()
    document["attributes"] = [a | {"source": "public"} for a in document["attributes"]]
    return verdict(compare_tables(Schema.of(document), tables[1], tables[0])).findings


def polls(seed, n=400):
    """Votes of three parties are the valid ones; these and the invalid ones are all."""
    rng = np.random.default_rng(seed)
    votes = rng.multinomial(2000, [0.4, 0.35, 0.25], n) + rng.integers(0, 300, (n, 3))
    spoilt = rng.integers(5, 80, n)
    valid = votes.sum(axis=1)
    return pd.DataFrame({"cast": valid + spoilt, "valid": valid, "spoilt": spoilt,
                         **{f"party_{p}": votes[:, k] for k, p in enumerate("abc")}})  # fmt: skip


def policies(seed, n=N):
    rng = np.random.default_rng(seed)
    claims = rng.binomial(2, 0.07, n)
    amount = np.where(claims > 0, rng.lognormal(7, 0.8, n).round(), 0).astype(int)
    return pd.DataFrame({"area": rng.choice(list("ABC"), n), "claims": claims, "amount": amount})


def answers(seed, n=N, *, by_age=True):
    """The old leave their income blank."""
    rng = np.random.default_rng(seed)
    band = rng.choice(["young", "middle", "old"], n, p=[0.3, 0.4, 0.3])
    blank = rng.random(n) < (np.where(band == "old", 0.45, 0.04) if by_age else 0.163)
    income = rng.choice(["low", "middle", "high"], n)
    return pd.DataFrame({"band": band, "income": np.where(blank, None, income), "sex": rng.choice(["f", "m"], n)})


def stations(seed, *, ordered=True, raised=0):
    """Levels of ten stations day by day, each near that of the day before."""
    rng, rows = np.random.default_rng(seed), []
    for k in range(10):
        level, x = np.zeros(300), rng.normal(0, 12)
        for t in range(300):
            x = 0.9 * x + rng.normal(0, 5)
            level[t] = x
        level = level if ordered else rng.permutation(level)
        rows.append(pd.DataFrame({
            "station": f"S{k}", "day": np.datetime64("2022-01-01") + np.arange(300),
            "level": np.round(100 + 30 * k + level + raised * (k == 3)).astype(int),
        }))  # fmt: skip
    return pd.concat(rows, ignore_index=True)


def test_a_sum_is_found_where_its_column_is_a_part_of_another_sum():
    made = polls(2)
    made["party_a"] = (made["party_a"] * 1.3).round().astype(int)
    first = found(polls(1), made)[0]
    assert (first.key, first.columns[0], set(first.what["parts"])) == (
        "sum", "valid", {"party_a", "party_b", "party_c"}
    )  # fmt: skip
    assert first.synthetic == float((made.valid != made[["party_a", "party_b", "party_c"]].sum(axis=1)).mean())


def test_amounts_where_none_can_be_come_before_the_zeros_and_the_mean_that_follow():
    made, rng = policies(2), np.random.default_rng(3)
    paid = (made.claims == 0) & (rng.random(N) < 0.1)
    made["amount"] = made["amount"].where(~paid, 1500)
    listed = found(policies(1), made)
    assert (listed[0].key, listed[0].columns) == ("filter_zero", ("claims", "amount"))
    assert listed[0].synthetic == float(((made.claims == 0) & (made.amount > 0)).mean())
    assert {"zeros", "mean"} <= {f.key for f in listed}


def test_values_outside_the_real_ones_come_before_the_correlation_that_they_turn():
    def paid(seed):
        rng = np.random.default_rng(seed)
        debit, amount = rng.random(N) < 0.6, rng.lognormal(5, 1, N).round(2)
        return pd.DataFrame({"debit": np.where(debit, amount, 0), "credit": np.where(debit, 0, amount)})

    made = paid(2)
    assert found(paid(1), made.assign(debit=-made["debit"]))[0].key == "outside"


def test_values_that_no_real_record_has_are_named_beside_those_that_are_gone():
    """Postcodes that lost their first zero: a third of the records have one that there is not."""

    def letters(seed):
        rng = np.random.default_rng(seed)
        code = rng.choice([f"0{k}1" for k in range(11, 31)] + [f"{k}01" for k in range(40, 80)], N)
        return pd.DataFrame({"code": code, "express": rng.choice(["yes", "no"], N)})

    made = letters(2)
    cut = made.assign(code=made["code"].str.lstrip("0"))
    first = found(letters(1), cut)[0]
    assert (first.key, first.columns, first.what["value"]) == ("share", ("code",), "(other)")
    assert first.synthetic == float((cut["code"] != made["code"]).mean())


def test_months_of_a_date_that_is_mostly_blank_are_shares_of_all_records():
    def trees(seed, month=None):
        rng = np.random.default_rng(seed)
        felled = np.datetime64("2020-01-01") + rng.integers(0, 1500, N)
        if month:
            felled = np.where(pd.DatetimeIndex(felled).month < 9, np.datetime64("2022-05-05"), felled)
        gone = rng.random(N) < 0.2
        return pd.DataFrame({"kind": rng.choice(["oak", "lime"], N), "felled": pd.Series(felled).where(gone)})

    real, made = trees(1), trees(2, month=5)
    f = next(f for f in found(real, made) if f.key == "times_month")
    months = range(f.what["low"], f.what["high"] + 1)
    shares = [float(x["felled"].dt.month.isin(months).mean()) for x in (real, made)]
    assert (f.real, f.synthetic) == pytest.approx(shares)
    assert f.weight == pytest.approx(abs(shares[1] - shares[0]), abs=0.02)


def test_numbers_that_came_out_rounded_are_found_as_are_those_that_lost_it():
    rng = np.random.default_rng(1)
    real, made = (pd.DataFrame({"paid": rng.lognormal(6, 0.5, N).round(), "x": rng.choice(["a", "b"], N)})
                  for _ in range(2))  # fmt: skip
    made["paid"] = np.where(rng.random(N) < 0.4, (made["paid"] / 100).round().clip(1) * 100, made["paid"])
    f = next(f for f in found(real, made) if f.key == "heaps")
    assert f.what["step"] == 100 and f.synthetic == float((made["paid"] % 100 == 0).mean())


def test_a_series_that_lost_its_order_is_found_beside_stations_that_lie_far_apart():
    listed = found(stations(1), stations(2, ordered=False))
    assert (listed[0].key, listed[0].columns[0]) == ("before", "level")


def test_rows_of_one_series_count_as_fewer_records():
    for seed in range(2, 6):
        assert found(stations(1), stations(seed)) == []


def test_a_group_whose_mean_moved_comes_before_the_mean_of_all():
    first = found(stations(1), stations(2, raised=200))[0]
    assert (first.key, first.columns, first.what["value"]) == ("group", ("level", "station"), "S3")


def test_a_group_that_alone_lost_its_difference_comes_before_the_differences_of_all():
    """The farthest station has the levels of the lowest one: much of all differences is gone."""
    made = stations(2)
    made.loc[made.station == "S9", "level"] = made.loc[made.station == "S0", "level"].to_numpy()
    listed = found(stations(1), made)
    assert (listed[0].key, listed[0].columns, listed[0].what["value"]) == ("group", ("level", "station"), "S9")
    assert "gaps" in {f.key for f in listed}


def test_an_amount_that_only_one_group_has_is_not_that_of_the_group():
    made = policies(2)
    made["amount"] = made["amount"] * np.where(np.random.default_rng(4).random(N) < 0.3, 1000, 1)
    assert found(policies(1), made)[0].key in ("mean", "outside", "rest")


def test_numbers_that_no_longer_go_together_within_a_station_are_found():
    """Flows that lag a month behind levels: between stations they agree as before, within one no longer."""

    def flows(seed, lag=0):
        rng, f = np.random.default_rng(seed), stations(seed)
        f["flow"] = (0.4 * f["level"] + rng.normal(0, 3, len(f))).round(1)
        return f.assign(flow=f.groupby("station")["flow"].shift(lag).bfill())

    real, made = flows(1), flows(2, lag=30)
    listed = found(real, made)
    assert (listed[0].key, listed[0].columns) == ("pair_within", ("level", "flow", "station"))
    shares = []
    for x in (real, made):
        level, flow = (x[n] - x.groupby("station")[n].transform("mean") for n in ("level", "flow"))
        shares.append(float(np.corrcoef(level, flow)[0, 1]))
    assert (listed[0].real, listed[0].synthetic) == pytest.approx(shares)
    assert found(real, flows(3)) == []


def test_rows_of_one_person_count_as_fewer_records():
    """Five visits of each of 300 persons, whose weight and year of birth stay: other persons are a fresh sample."""

    def visits(seed):
        rng = np.random.default_rng(seed)
        who = np.repeat(np.arange(300), 5)
        return pd.DataFrame({
            "person": [f"P{k:04d}" for k in who], "sex": rng.choice(["f", "m"], 300)[who],
            "born": rng.integers(1930, 2000, 300)[who], "clinic": rng.choice(list("ABC"), 300)[who],
            "weight": (rng.normal(75, 12, 300)[who] + rng.normal(0, 1, 1500)).round(1),
        })  # fmt: skip

    for seed in range(2, 8):
        assert [f.key for f in found(visits(1), visits(seed).drop(columns="person"))] == ["ignored"], seed


def test_groups_of_unequal_spread_make_no_interaction():
    """Amounts that are 0 without a claim, and far apart where there are two: a few large ones are all."""

    def insured(seed):
        rng, n = np.random.default_rng(seed), 20_000
        claims = rng.binomial(3, 0.05, n)
        amount = np.where(claims > 0, rng.lognormal(7, 1, n) * claims, 0).round().astype(int)
        area = rng.choice(list("ABCDEF"), n, p=[0.25, 0.2, 0.2, 0.15, 0.12, 0.08])
        return pd.DataFrame({"area": area, "claims": claims, "amount": amount})

    for seed in (4, 5, 6):
        made = insured(seed + 10)
        end = int(made.amount[made.claims > 0].quantile(0.9))
        found_in = {f.key for f in found(insured(seed), made.assign(amount=made["amount"].clip(upper=end)))}
        assert "interaction" not in found_in and found_in & {"above", "high"}


def test_records_in_the_middle_of_all_are_no_copies():
    """Values nearer to their means than real ones: many real records lie near to the middle, and it is nobody's."""

    def measured(seed, spread):
        rng = np.random.default_rng(seed)
        return pd.DataFrame({f"x{k:02d}": (spread * rng.normal(0, 9, 1500)).round(2) for k in range(35)})

    for spread in (0.5, 0.2):
        assert not any(f.alarm for f in found(measured(1, 1.0), measured(2, spread)))
    near = measured(1, 1.0) + measured(3, 0.1)
    assert found(measured(1, 1.0), near)[0].key == "near_copies"


def test_blank_cells_that_no_longer_go_with_a_group_are_found():
    made = answers(2, by_age=False)
    f = found(answers(1), made)[0]
    assert (f.key, f.columns, f.what["value"]) == ("blank_group", ("income", "band"), "old")
    real = answers(1)
    assert f.real == pytest.approx(float(real.income[real.band == "old"].isna().mean()))
    assert f.synthetic == pytest.approx(float(made.income[made.band == "old"].isna().mean()))
    assert finding_words(f, words("en")) == "income is blank in 42.2% of the records where band is old, here 16.3%"
    assert found(answers(1), answers(3)) == []


def test_records_whose_value_is_new_count_among_those_that_do_not_go_with_another_one():
    """A release writes (other) for a shelf now and then: such a record goes with its section as little as others do."""

    def books(seed, torn=0.0, other=0.0):
        rng = np.random.default_rng(seed)
        section = rng.choice(["novels", "crime", "travel", "maps"], N)
        shelf = np.where(np.isin(section, ["novels", "crime"]), "fiction", "facts")
        shelf = np.where(rng.random(N) < torn, rng.choice(["fiction", "facts"], N), shelf)
        return pd.DataFrame({"section": section, "shelf": np.where(rng.random(N) < other, "(other)", shelf)})

    made = books(2, torn=0.2, other=0.01)
    f = next(f for f in found(books(1), made) if f.key == "function")
    wrong = made.shelf != np.where(np.isin(made.section, ["novels", "crime"]), "fiction", "facts")
    assert (f.synthetic, f.what["records"]) == (pytest.approx(float(wrong.mean())), int(wrong.sum()))


def test_a_season_that_is_lost_comes_before_the_relations_of_the_date():
    def sold(seed, *, season):
        rng = np.random.default_rng(seed)
        day = rng.integers(0, 730, N)
        wave = 12 * np.sin(2 * np.pi * day / 365.25) if season else rng.permutation(12 * np.sin(day / 58.1))
        number = np.round(50 + wave + rng.normal(0, 12, N)).astype(int)
        return pd.DataFrame({
            "day": np.datetime64("2022-01-01") + day, "sold": number,
            "staff": np.round(number / 9 + rng.normal(0, 1, N)),
            "shop": np.where(number + rng.normal(0, 9, N) > 55, "a", "b"),
        })  # fmt: skip

    listed = found(sold(1, season=True), sold(2, season=False))
    assert listed[0].key == "cycle_month"
