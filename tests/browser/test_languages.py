"""The second language in a real browser: nothing is cut off, on a screen and on a phone."""

import pytest

from ui.shared.text import written

pytestmark = pytest.mark.browser

# elements that hold words themselves and show less of them than there is; tables scroll and are left out
CUT = """() => ['stMain', 'stSidebar', 'stHeader']
  .flatMap(part => [...document.querySelectorAll(`[data-testid=${part}] *`)])
  .filter(e => [...e.childNodes].some(n => n.nodeType == 3 && n.data.trim()) && e.clientWidth > 0)
  .filter(e => !e.closest('[data-testid=stDataFrame], svg, style, script, input, [data-testid=stSelectbox]'))
  .filter(e => getComputedStyle(e).overflowX != 'visible' && e.scrollWidth > e.clientWidth + 1)
  .map(e => e.textContent.trim().slice(0, 60))"""
WIDER = "() => { const m = document.querySelector('[data-testid=stMain]'); return m.scrollWidth - m.clientWidth; }"


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("page", ["", "privacy", "synthesize", "export", "learn"])
def test_no_german_word_is_cut_off(visitor, page, width):
    visitor.page.set_viewport_size({"width": width, "height": 900})
    visitor.open(page, "?lang=de")
    assert written("de")[f"{page or 'data'}.title"] in visitor.words()
    assert visitor.page.evaluate(CUT) == []
    assert visitor.page.evaluate(WIDER) == 0
