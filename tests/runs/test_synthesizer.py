"""Fit and sample: one charge, as many samples as wanted, and the stamp of a schema that nobody has checked."""

import pandas as pd
import pytest

from dpsyn_core import Synthesizer, confirm_schema, draft_schema, synthesize
from dpsyn_core.errors import BudgetError, BudgetWarning, SchemaWarning, SettingError
from dpsyn_core.privacy.ledger.ledger import Ledger

FRAME = pd.DataFrame({"age": [i % 60 for i in range(300)], "sex": pd.Categorical(["f", "m", "m"] * 100)})


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("DPSYN_HOME", str(tmp_path))


def test_a_table_is_charged_once_and_sampled_as_often_as_wanted():
    schema = confirm_schema(draft_schema(FRAME, "t"), everything=True)
    fitted = Synthesizer(schema, epsilon=1, rng=3, method="independent").fit(FRAME)
    charges = len(Ledger().entries("t"))
    first, second = fitted.sample(40), fitted.sample(40)
    assert first.shape == second.shape == (40, 2) and not first.equals(second)
    assert first.dtypes["sex"] == "category"
    assert len(Ledger().entries("t")) == charges == 1
    assert fitted.release.manifest.private and fitted.release.manifest.n_records == 40
    assert 200 < len(fitted.sample()) < 400


def test_without_a_schema_that_a_person_has_checked_a_sample_is_stamped():
    with pytest.warns(SchemaWarning, match="NOT PRIVATE"):
        fitted = Synthesizer(epsilon=1, method="independent").fit(FRAME)
    fitted.sample(5)
    assert not fitted.release.manifest.private


def test_nothing_is_sampled_before_a_table_is_measured():
    with pytest.raises(SettingError, match=r"call fit\(table\) before"):
        Synthesizer(epsilon=1).sample(3)
    with pytest.raises(BudgetError):
        Synthesizer(epsilon=0).fit(FRAME)


def test_an_epsilon_that_promises_next_to_nothing_is_answered_with_a_sentence():
    schema = confirm_schema(draft_schema(FRAME, "t"), everything=True)
    with pytest.warns(BudgetWarning, match="epsilon 1000 promises next to nothing"):
        made = synthesize(FRAME, schema, epsilon=1000, delta=1e-9, method="independent")
    assert made.manifest.seed is not None, "a seed that nobody gave is drawn and stated"


def test_the_text_of_a_schema_has_ten_lines_at_most():
    wide = pd.DataFrame({f"column {i}": [0, 1] * 20 for i in range(30)})
    lines = repr(draft_schema(wide, "t")).splitlines()
    assert len(lines) == 10 and lines[-2] == "  and 23 more" and lines[-1].startswith("NOT PRIVATE")
    assert max(map(len, lines)) <= 100
    assert "sex" in repr(draft_schema(FRAME, "t")) and "more" not in repr(draft_schema(FRAME, "t"))
