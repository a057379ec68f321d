"""The second language in a real browser: nothing is cut off, on a screen and on a phone."""

import pytest

from benchmarks.pages import measured
from tests.browser.conftest import DONE
from ui.shared.text import catalogue, written

pytestmark = pytest.mark.browser

# elements that hold words themselves and show less of them than there is; tables scroll and are left out
CUT = """() => ['stMain', 'stSidebar', 'stHeader']
  .flatMap(part => [...document.querySelectorAll(`[data-testid=${part}] *`)])
  .filter(e => [...e.childNodes].some(n => n.nodeType == 3 && n.data.trim()) && e.clientWidth > 0)
  .filter(e => !e.closest('[data-testid=stDataFrame], svg, style, script, input, [data-testid=stSelectbox]'))
  .filter(e => getComputedStyle(e).overflowX != 'visible' && e.scrollWidth > e.clientWidth + 1)
  .map(e => e.textContent.trim().slice(0, 60))"""
WIDER = "() => { const m = document.querySelector('[data-testid=stMain]'); return m.scrollWidth - m.clientWidth; }"

# titles and names that reach beyond their figure
BEYOND = """() => [...document.querySelectorAll('.js-plotly-plot')].flatMap(p => {
  const all = p.getBoundingClientRect();
  return [...p.querySelectorAll('.xtitle, .ytitle, .legendtext, .xtick text, .ytick text')].filter(e => {
    const one = e.getBoundingClientRect();
    return one.left < all.left - 1 || one.right > all.right + 1 || one.top < all.top - 1;
  }).map(e => e.textContent);
})"""


def test_no_german_word_is_cut_off(visitor):
    visitor.open("", "?lang=de")
    for page in ("", "privacy", "synthesize", "export", "learn"):
        if page:
            visitor.move(page)
        assert written("de")[f"{page or 'data'}.title"] in visitor.words()
        for width in (1280, 390):
            visitor.page.set_viewport_size({"width": width, "height": 900})
            visitor.settle()
            assert visitor.page.evaluate(CUT) == [], (page, width)
            assert visitor.page.evaluate(WIDER) == 0, (page, width)


def test_no_german_title_of_an_axis_leaves_its_figure_on_a_phone(visitor):
    visitor.page.set_viewport_size({"width": 390, "height": 900})
    labs = ("family", "linkage", "dependence", "rounds", "phases", "exposures", "prior", "sweeps", "composition")
    visitor.open("privacy", "?lang=de")
    visitor.plots()
    title, plot = (
        visitor.page.locator(f".js-plotly-plot {at}").first.bounding_box() for at in (".ytitle", ".nsewdrag")
    )
    assert title["height"] <= plot["height"], "the noise plot is as high as the title of its axis"
    for lab in (*labs, "records"):
        visitor.move("learn", f"?lab={lab}&open=1")
        visitor.plots()
        assert visitor.page.evaluate(BEYOND) == [] and visitor.page.evaluate(CUT) == [], lab
        assert visitor.page.evaluate(WIDER) == 0, lab


def test_a_german_axis_writes_its_percents_with_a_space_and_an_english_one_without(visitor):
    ticks = "() => [...document.querySelectorAll('.ytick text, .vega-embed text')].map(e => e.textContent)"
    for lab in ("leak", "family"):
        for language, width in (("en", 1280), ("de", 1280), ("de", 700)):  # a narrower figure is drawn again
            visitor.page.set_viewport_size({"width": width, "height": 900})
            if width == 1280:
                visitor.open("learn", f"?lab={lab}&open=1&lang={language}")
            visitor.plots()
            visitor.page.wait_for_timeout(300)
            shares = [x for x in visitor.page.evaluate(ticks) if x.endswith("%")]
            assert shares and all((x[-2] == "\u00a0") == (language == "de") for x in shares), (lab, language, shares)
            assert visitor.page.evaluate("document.documentElement.lang") == language


def test_a_field_for_files_speaks_german_and_has_room_for_it(visitor):
    visitor.page.set_viewport_size({"width": 390, "height": 900})
    visitor.open("plan", "?lang=de")
    field = visitor.page.get_by_test_id("stFileUploaderDropzone").first
    shown = "(e, at) => getComputedStyle(e.querySelector(at), '::after').content"
    assert field.evaluate(shown, "button p") == f'"{written("de")["upload.button"]}"'
    sizes = field.evaluate(
        """e => [e.querySelector('button').getBoundingClientRect().width,
        e.querySelector('button').getBoundingClientRect().height,
        parseFloat(getComputedStyle(e.querySelector('button p')).fontSize)]"""
    )
    assert sizes[0] > 110 and sizes[1] < 60 and sizes[2] == 0, "the English word is gone, the German one fits in a line"
    visitor.upload("photo.png", b"\x89PNG" + bytes(3000))
    chip = visitor.page.get_by_test_id("stFileChip").first.inner_text()
    assert "photo.png" in chip and "KB" not in chip, "Streamlit writes sizes with an English point"


def test_what_is_ticked_and_chosen_can_be_read_on_a_phone_in_the_dark(another):
    one = another(color_scheme="dark", locale="de-DE")
    one.page.set_viewport_size({"width": 390, "height": 900})
    one.open()
    one.pick(written("de")["data.way_upload"])
    one.upload("mine.csv", b"a,b\n" + b"".join(b"%d,%s\n" % (i % 40, b"xy"[i % 2 : i % 2 + 1]) for i in range(300)))
    one.page.locator(".st-key-quick_to_guide button:visible").first.wait_for()
    assert (measured(one.settle().page, "data", 0.0).primary or 900) <= 900, "what is next is in view"
    one.open("grid")
    box = one.page.get_by_test_id("stMain").get_by_test_id("stCheckbox").locator("p").first
    box.wait_for()
    assert one.page.evaluate(WIDER) == 0
    right = box.evaluate("e => { const r = document.createRange(); r.selectNodeContents(e);"
                         " return r.getBoundingClientRect().right }")  # fmt: skip
    assert right <= 380, "the words wrap"
    chosen = one.page.locator("[data-testid=stMultiSelect] [data-tag] span").first
    assert chosen.evaluate("e => getComputedStyle(e).color") == "rgb(11, 21, 25)", "dark letters on the light accent"


def test_what_a_german_visitor_saves_is_german(visitor):
    t = {key: text.split("{")[0].strip() for key, text in catalogue("de").items()}
    visitor.open("", "?lang=de")
    visitor.page.get_by_test_id("stMain").get_by_role("button", name=t["quick.button"]).first.click()
    visitor.page.get_by_role("button", name=t["outcome.report"]).first.wait_for(timeout=DONE)
    visitor.settle().go(t["nav.export"])
    assert visitor.download(t["export.certificate_button"]).decode().startswith(t["certificate.title"])
