"""A page as axe-core sees it: which of its findings count, and that it sees a fault."""

from importlib.resources import files

import pytest

pytestmark = pytest.mark.browser

# faults of libraries, which no code of ours can reach: (rule, what stands in the element, reason)
OF_LIBRARIES = (
    ("svg-img-alt", 'class="mark-rect role-mark brush_brush', "Vega draws a brush as a graphic without a name"),
)
LOOKS = 6
RUN = """async rules => {
  const chosen = rules ? {runOnly: {type: 'rule', values: rules}} : {};
  const found = await axe.run(document, {...chosen, resultTypes: ['violations']});
  return found.violations.filter(v => ['serious', 'critical'].includes(v.impact))
    .flatMap(v => v.nodes.map(n => ({rule: v.id, element: n.html.slice(0, 300), why: n.failureSummary}))); }"""


def findings(page, rules=None):
    """Serious and critical findings on the open page, without the faults of libraries; none once one look finds none.

    A page that is still being drawn is looked at again, for what fades in has little contrast.
    """
    if not page.evaluate("typeof axe != 'undefined'"):
        page.evaluate((files("axe_playwright_python") / "axe.min.js").read_text("utf-8"))
    found = []
    for _ in range(LOOKS):
        found = [
            f"{got['rule']}: {got['element']} ({got['why']})"
            for got in page.evaluate(RUN, rules)
            if not any(got["rule"] == rule and part in got["element"] for rule, part, _ in OF_LIBRARIES)
        ]
        if not found:
            return []
        page.wait_for_timeout(500)
    return found


def test_axe_sees_a_fault_that_is_put_on_a_page(finished):
    finished.open("export")
    finished.page.evaluate(
        "document.querySelector('[data-testid=stMain]').insertAdjacentHTML('beforeend', '<img id=planted src=x>')"
    )
    try:
        assert any(f.startswith("image-alt") for f in findings(finished.page))
    finally:
        finished.page.evaluate("document.getElementById('planted').remove()")
