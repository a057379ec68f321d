"""The benchmark of wrong conclusions counts right, and figures of peers at other settings than theirs say so."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from benchmarks.conclusions import EFFECTS, NULLS, analysed, naive, report

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture
def people():
    rng = np.random.default_rng(1)
    sex, coin = rng.choice(["Male", "Female"], 500), rng.choice(["heads", "tails"], 500)
    age = rng.integers(18, 90, 500)
    return pd.DataFrame({"SEX": sex, "COIN": coin, "AGE": age, "PAY": age // 4 + 5 * (sex == "Male")})


def test_the_analysis_is_the_one_of_a_textbook(people):
    found = analysed(people)
    assert set(found) == set(EFFECTS) | set(NULLS)
    pay, man = people["PAY"], people["SEX"] == "Male"
    told = stats.ttest_ind(pay[man], pay[~man], equal_var=False)
    estimate, error = found["gap in pay by sex"]
    assert estimate / error == pytest.approx(told.statistic)
    low, high = naive(people)["mean of age"]
    assert (low + high) / 2 == pytest.approx(people["AGE"].mean())
    x = np.column_stack([np.ones(500), people["AGE"], man, people["COIN"] == "heads"]).astype(float)
    assert found["age in a regression of pay"][0] == pytest.approx(np.linalg.lstsq(x, pay, rcond=None)[0][1])


def test_misses_and_false_effects_are_counted():
    truth = dict.fromkeys(EFFECTS, 5.0) | dict.fromkeys(NULLS, 0.0)
    good = {n: (t - 1, t + 1) for n, t in truth.items()}
    bad = good | {EFFECTS[0]: (5.5, 9.5), NULLS[0]: (0.1, 2.1)}
    lines = []
    report([{"the real table": good, "other": bad}, {"the real table": good, "other": good}], truth, lines.append)
    rows = {line.split(" | ")[0].strip("| "): line.split(" | ") for line in lines[2:]}
    assert rows["the real table"][1].startswith("0%") and rows["the real table"][2].startswith("0%")
    assert rows["other"][1].startswith("12%") and rows["other"][2].startswith("17%")


@pytest.mark.parametrize("path", ["docs/evidence/figures.md", "docs/evidence/accuracy.md"])
def test_figures_of_peers_at_other_settings_than_theirs_have_a_footnote(path):
    text = (ROOT / path).read_text(encoding="utf-8")
    rows = [r for r in text.splitlines() if re.match(r"\| (0\.1|0\.3|1|3|10) \|", r)][:5]  # of the first table
    assert len(rows) == 5 and all(re.search(r"\[[123]\]", r) for r in rows)
    assert "1 MB and 20 rounds" in text.split(rows[-1])[1] and "80 MB" in text
