"""A finding as JSON types: its sentence by its kind, and its figures unchanged."""

from dpsyn_core.evaluate.findings.finding import ALARM, Finding
from dpsyn_core.report.finding_words import finding_words
from dpsyn_core.report.verdict import WHOLE, finding_entry
from dpsyn_core.report.wording import ENGLISH


def test_the_finding_on_all_relations_has_a_sentence_without_figures_and_any_other_one_its_clause():
    assert finding_entry(Finding(key=WHOLE, weight=0.5))["sentence"] == ENGLISH["finding_relations"]
    pair = Finding(key="pair", weight=0.4, columns=("age", "pay"), real=0.8, synthetic=0.1, fresh=0.79)
    entry = finding_entry(pair)
    assert entry["sentence"] == finding_words(pair, ENGLISH) != ENGLISH["finding_relations"]
    assert (entry["real"], entry["synthetic"], entry["fresh"]) == (0.8, 0.1, 0.79)
    assert entry["columns"] == ["age", "pay"] and entry["remedy"] is None and entry["examples"] == []


def test_an_alarm_begins_at_its_weight():
    at, below = (finding_entry(Finding(key=WHOLE, weight=w))["alarm"] for w in (ALARM, ALARM - 1e-9))
    assert at is True and below is False
