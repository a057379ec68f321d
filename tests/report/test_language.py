"""The HTML report in another language: nothing of its page stays English, names are escaped, JSON stays the same."""

import re

import pytest

from dpsyn_core.report.html import html_report
from dpsyn_core.report.translation import NAMED, _filled, sentence, sentences
from dpsyn_core.report.wording import ENGLISH, languages, words
from tests.report.test_html import Reader, data_of, scored

OTHERS = [code for code in languages() if code != "en"]


@pytest.fixture(scope="module")
def tables():
    return [scored(), scored("two", 0.6)]


def test_german_is_a_language_of_reports():
    assert OTHERS == ["de"]


@pytest.mark.parametrize("code", OTHERS)
def test_no_sentence_of_the_page_stays_english(code, tables):
    english, other = (Reader(html_report("toy", tables, language=language)) for language in ("en", code))
    said = {w.strip() for w in english.words if len(re.findall(r"[A-Za-z]{2,}", w)) >= 3}
    left = {w.strip() for w in other.words} & said
    names = {" x ".join(pair) for pair in [("age", "sex"), ("sex", "age")]}
    assert len(said) > 60
    assert not {x for x in left - names if " x " not in x and " in " not in x}, "translate these"


@pytest.mark.parametrize("code", OTHERS)
def test_figures_speak_the_language_and_write_its_numbers(code, tables):
    page = html_report("toy", tables, language=code)
    data = data_of(page)
    assert f"<html lang='{code}'>" in page
    assert data["layout"]["separators"] == ",."
    assert data["words"]["column"] == words(code)["page.numbers_column"]
    assert "TVD" in data["figures"]["pairs"][0]["data"][0]["colorbar"]["title"]["text"]
    assert data["figures"]["pairs"][0]["caption"].startswith(words(code)["map_finding"].split("{")[0])
    assert not re.search(r"\d\.\d+\s?%", Reader(page).text)


@pytest.mark.parametrize("code", OTHERS)
def test_names_of_a_visitor_stay_escaped(code):
    page = html_report("<b>toy", [scored("<script>x</script>", wanted=["tvd-1way", "tvd-2way"])], language=code)
    assert "<b>toy" not in page and "<script>x" not in page and "&lt;b&gt;toy" in page


@pytest.mark.parametrize("code", OTHERS)
def test_a_translated_sentence_fills_in_what_it_names(code):
    for english, other in sentences("said", code).items():
        assert set(NAMED.findall(other)) <= set(NAMED.findall(english)), english


def test_a_sentence_within_a_sentence_is_translated_and_unknown_ones_stay():
    german = words("de")
    said = (
        "On average, 12.5% of the records would have to move for a pair of attributes to match; a fresh sample of "
        "this size would need 1.0%. It is as good as a 38% sample of the real records."
    )
    assert sentence(said, german) == (
        "Im Mittel müssten 12,5\u00a0% der Datensätze wandern, damit ein Spaltenpaar stimmt; eine neue Stichprobe "
        "dieser Größe bräuchte 1,0\u00a0%. Das ist so gut wie eine Stichprobe von 38 % der echten Datensätze."
    )
    assert sentence("nobody says this", german) == "nobody says this"
    assert sentence(said, ENGLISH) == said


class Searched(str):
    """A text that counts how often it is searched."""

    searches = 0

    def find(self, *where):
        type(self).searches += 1
        return super().find(*where)


def test_a_sentence_of_long_names_is_read_in_one_pass():
    english = "'{name}' has no value for the {part} {value}, which '{of}' can have; widen the one, or narrow the other"
    assert english in sentences("refusals", "de")
    parts = NAMED.split(english)
    hostile = Searched("'" + "' has no value for the  , which '' can have; widen the one, or" * 5000)
    assert _filled(parts, hostile) is None
    assert Searched.searches <= len(parts)
    given = {"name": "a' has no", "part": "year", "value": "3, which", "of": "b' can have"}
    assert _filled(parts, english.format(**given)) == given
    assert _filled(["", "a", " and ", "a", ""], "x and y") is None, "one name, two values"
