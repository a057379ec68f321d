"""Every page as axe-core sees it: no finding that it calls serious or critical, in light and in dark."""

from importlib.resources import files

import pytest

pytestmark = pytest.mark.browser

# page and, on Report, the view that is pressed
PAGES = ("", "schema", "privacy", "questions", "synthesize", "report", "report/Explore", "export", "learn")
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


@pytest.mark.parametrize("name", PAGES)
def test_axe_finds_nothing_serious_on_any_page_in_either_mode(finished, name):
    page, _, view = name.partition("/")
    try:
        finished.open(page)
        if view:
            finished.pick(view)
        for mode, rules in (
            ("light", None),
            ("dark", ["color-contrast"]),
        ):  # what else there is does not hang on colours
            finished.page.emulate_media(color_scheme=mode)
            finished.settle()
            assert findings(finished.page, rules) == [], mode
    finally:
        finished.page.emulate_media(color_scheme="light")


def test_axe_sees_a_fault_that_is_put_on_a_page(finished):
    finished.open("export")
    finished.page.evaluate(
        "document.querySelector('[data-testid=stMain]').insertAdjacentHTML('beforeend', '<img src=x>')"
    )
    assert any(f.startswith("image-alt") for f in findings(finished.page))
