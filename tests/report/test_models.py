"""Regressions and amounts side by side: coefficients are those of least squares, and turned signs are red."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from dpsyn_core.evaluate import compare_tables
from dpsyn_core.report.document import ScoredTable, table_entry
from dpsyn_core.report.html import html_report
from dpsyn_core.report.models import section
from dpsyn_core.report.page import Page
from dpsyn_core.schema import Schema

N = 2000


def people(seed, sign):
    rng = np.random.default_rng(seed)
    age, sex = rng.integers(20, 70, N), rng.choice(["f", "m"], N)
    chance = 1 / (1 + np.exp(-sign * (age - 45) / 12 + 0.3 * (sex == "f")))
    paid = np.where(rng.random(N) < 0.5, 0, rng.integers(1, 900, N))
    return pd.DataFrame({"age": age, "sex": sex, "paid": paid, "ill": np.where(rng.random(N) < chance, "yes", "no")})


@pytest.fixture(scope="module")
def table():
    schema = Schema.of({"version": 1, "name": "people", "attributes": [
        {"name": "age", "kind": "numeric", "dtype": "integer", "min": 20, "max": 70},
        {"name": "sex", "kind": "categorical", "values": ["f", "m"]},
        {"name": "paid", "kind": "numeric", "dtype": "integer", "min": 0, "max": 900},
        {"name": "ill", "kind": "categorical", "values": ["no", "yes"]},
    ]})  # fmt: skip
    sides = [pa.Table.from_pandas(people(k, sign), preserve_index=False) for k, sign in ((1, 1), (2, -1))]
    return ScoredTable(name="made", comparison=compare_tables(schema, sides[1], sides[0]), scores={})


def test_coefficients_are_those_of_least_squares_in_deviations_of_the_real_table(table):
    real = people(1, 1)
    terms = {(e["outcome"], e["column"], e["value"]): e for e in table_entry(table)["models"]}
    ill = (real["ill"] == "yes").astype(float)
    base = real["sex"].mode()[0]
    other = "m" if base == "f" else "f"
    x = np.stack([
        np.ones(N), (real["age"] - real["age"].mean()) / real["age"].std(ddof=0), real["sex"] == other,
        (real["paid"] - real["paid"].mean()) / real["paid"].std(ddof=0),
    ], axis=1).astype(float)  # fmt: skip
    found = np.linalg.lstsq(x, ill / ill.std(ddof=0), rcond=None)[0]
    assert terms["ill", "age", None]["real"] == pytest.approx(found[1])
    assert terms["ill", "sex", other]["real"] == pytest.approx(found[2])
    age = terms["ill", "age", None]
    assert age["turned"] and age["synthetic"] < 0 < age["interval_real"][0] < age["real"] < age["interval_real"][1]


def test_amounts_are_those_of_the_files(table):
    (amount,) = table_entry(table)["amounts"]
    for side, frame in enumerate((people(1, 1), people(2, -1))):
        rest = frame["paid"][frame["paid"] > 0]
        assert amount["zeros"][side] == pytest.approx((frame["paid"] == 0).mean())
        assert amount["rest"][side] == pytest.approx(rest.mean())
        assert amount["high"][side] == pytest.approx(rest.quantile(0.99))


@pytest.mark.parametrize(("language", "word"), [("en", "opposite sign"), ("de", "umgekehrtes Vorzeichen")])
def test_signs_that_turned_stand_in_red_in_both_languages(table, language, word):
    page = html_report("people", [table], language=language)
    rows = [r.partition("</tr>")[0] for r in page.split("<tr") if r.startswith(" class='red'")]
    assert rows and all(word in r for r in rows) and any("age" in r for r in rows)


def test_interactions_and_variance_between_groups_stand_beside_the_models():
    def of(seed, other):
        rng = np.random.default_rng(seed)
        shop, shift, size = rng.integers(0, 12, N), rng.choice(["day", "night"], N), rng.choice(["small", "large"], N)
        together = np.where((shift == "day") == (size == "small"), 1, -1) * other
        pay = 100 + 3 * np.cos(shop) + together + rng.normal(0, 1, N)
        return pd.DataFrame({"shop": [f"S{k}" for k in shop], "shift": shift, "size": size, "pay": pay.round(2)})

    schema = Schema.of({"version": 1, "name": "shops", "attributes": [
        {"name": "shop", "kind": "categorical", "values": [f"S{k}" for k in range(12)]},
        {"name": "shift", "kind": "categorical", "values": ["day", "night"]},
        {"name": "size", "kind": "categorical", "values": ["small", "large"]},
        {"name": "pay", "kind": "numeric", "dtype": "float", "min": 80, "max": 120},
    ]})  # fmt: skip
    sides = [pa.Table.from_pandas(of(k, sign), preserve_index=False) for k, sign in ((1, 1), (2, -1))]
    made = ScoredTable(name="made", comparison=compare_tables(schema, sides[1], sides[0]), scores={})
    entry = table_entry(made)
    (found,) = [x for x in entry["interactions"] if x["outcome"] == "pay"]
    real = of(1, 1)
    cells = real.groupby(["shift", "size"])["pay"].mean()
    spread = real["pay"].var(ddof=0)
    contrast = (cells["day", "small"] - cells["day", "large"] - cells["night", "small"] + cells["night", "large"]) / 4
    assert found["real"] == pytest.approx(contrast**2 / spread, rel=0.02)
    assert found["turned"] and found["kept"] == pytest.approx(-1, abs=0.1)
    (variance,) = [v for v in entry["group_variances"] if v["column"] == "pay"]
    assert variance["by"] == "shop" and variance["real"] > 0.5
    for language, title in (("en", "Variance between groups"), ("de", "Varianz zwischen Gruppen")):
        assert title in html_report("shops", [made], language=language)


def test_of_several_synthetic_tables_each_has_its_models_under_its_name(table):
    def headings(*names):
        page = Page("t", heading="h", label="l", note="n")
        section(page, [(name, table.comparison) for name in names])
        return [values["words"] for kind, values in page.sections[0].blocks if kind == "heading"]

    assert headings("first") == []
    assert headings("first", "second") == ["first", "second"]
