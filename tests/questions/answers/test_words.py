"""Sentences of answers in the words of a language: the same figures, its own marks of numbers."""

import numpy as np
import pytest

from dpsyn_core.questions.answers.answers import ENGLISH, Answered, ended, number, sentence, unit_of
from dpsyn_core.questions.forms import MeanQuestion
from ui.shared.text import written

GERMAN = {k.removeprefix("engine.answer."): v for k, v in written("de").items() if k.startswith("engine.answer.")}


def answered(**changed):
    one = {k: np.array(v) for k, v in {"estimate": 53.456, "low": 50.1, "high": 56.25}.items()}
    rest = {k: np.array(np.nan) for k in ("synthetic", "released", "noise")}
    given = one | rest | {"question": MeanQuestion(name="m", of="age"), "axes": (), "unit": "mean of age",
             "grades": ("estimated",), "truth": "table", "confidence": 0.95, "sentence": ""}  # fmt: skip
    return Answered(**(given | changed))


def test_a_sentence_is_said_in_another_language():
    assert set(GERMAN) == set(ENGLISH)
    said = answered().said(GERMAN)
    assert said.startswith("53,46 (Mittel von age); in der echten Tabelle liegt die Zahl zwischen 50,1 und 56,25")
    assert "bei 95 % Sicherheit" in said and "the" not in said.split()
    assert answered().said(ENGLISH).startswith("53.46 (mean of age); it lies in the real table between 50.1 and 56.25")


@pytest.mark.parametrize("words", [ENGLISH, GERMAN])
def test_every_form_of_sentence_is_filled(words):
    many = {k: np.array(v) for k, v in (("estimate", [1.0, 2.0]), ("low", [0.0, 1.0]), ("high", [2.0, 3.0]))}
    for grades in (("exact", "none"), ("none", "none"), ("bounded", "estimated")):
        assert "{" not in sentence(**many, grades=grades, unit="u", truth="population", confidence=0.9, words=words)
    blank = dict.fromkeys(("estimate", "low", "high"), np.array(np.nan))
    assert sentence(**blank, grades=("none",), unit="u", truth="table", confidence=0.9, words=words) == words["nothing"]
    assert "too large" in answered(grades=("none",), notes=("too large",)).said(words)
    assert answered(notes=("a", "b", "c")).said(words).count("a; b") == 1


def test_numbers_have_the_marks_of_the_language_and_new_kinds_a_name():
    assert number(12345.6) == "12,346" and number(12345.6, GERMAN) == "12.346" and number(0.5, GERMAN) == "0,5"
    assert unit_of(MeanQuestion(name="m", of="age"), {}) == "mean of age"


@pytest.mark.parametrize(
    ("grades", "weakest"),
    [(("exact", "estimated"), "estimated"), (("bounded", "exact", "none"), "bounded"), (("none", "none"), "none")],
)
def test_the_grade_of_an_answer_is_the_weakest_of_those_with_an_interval(grades, weakest):
    assert answered(grades=grades).grade == weakest


PLAIN = {
    "one": "{value}|{unit}|{about}|{low}|{high}|{sure}|{because}", "percent": "{value}", "table": "T",
    "many": "{count}|{unit}|{about}|{half}|{sure}|{because}", "rest": "+{count}", "nothing": "none",
    "unsupported": "{value}?{unit}", "unsupported_many": "?{count}", "means_exact": "E", "means_estimated": "S",
    "means_bounded": "B", "note": "({notes})", "note_more": "{notes} and {count}", "decimal_mark": ".",
}  # fmt: skip


@pytest.mark.parametrize(
    ("grades", "said"),
    [
        (["exact"], "1,000|u|T|999.5|1,001|90|E"),
        (["none"], "1,000?u"),
        (["exact", "exact"], "2|u|T|0.75|90|E"),
        (["exact", "none"], "2|u|T|0.5|90|E +1"),
        (["none", "bounded"], "2|u|T|1|90|B +1"),
        (["bounded", "estimated"], "2|u|T|0.75|90|S; B"),
        (["none", "none"], "?2"),
    ],
)
def test_a_sentence_says_each_figure_in_its_place(grades, said):
    ends = {"estimate": [1000.0, 3.0], "low": [999.5, 2.0], "high": [1000.5, 4.0]}
    arrays = {k: np.array(v[: len(grades)]) for k, v in ends.items()}
    assert sentence(**arrays, grades=grades, unit="u", truth="table", confidence=0.9, words=PLAIN) == said.replace(
        "1,001", number(1000.5)
    )


def test_the_first_two_notes_are_said_and_the_others_counted():
    assert [ended(tuple("abcd"[:k]), PLAIN) for k in range(5)] == [
        "", "(a)", "(a; b)", "(a; b and 1)", "(a; b and 2)",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("x", "of", "text"),
    [(999.96, "", "1000"), (1000.0, "", "1,000"), (-1000.4, "", "-1,000"), (999.4, "", "999.4"),
     (1987.0, "year", "1987"), (0.00012345, "", "0.0001234"), (1987.0, "pay", "1,987")],
)  # fmt: skip
def test_numbers_have_four_digits_or_are_whole_from_a_thousand_on(x, of, text):
    assert number(x, of=of) == text
