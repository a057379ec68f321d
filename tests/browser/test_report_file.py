"""The HTML report in a real headless browser: drawn without a request, in both modes, narrow and wide."""

import pytest

from dpsyn_core.report.html import html_report
from tests.report.test_html import scored

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "report.html"
    path.write_text(html_report("toy", [scored(), scored("two", 0.6)]), encoding="utf-8")
    return path.as_uri()


@pytest.fixture
def opened(chromium, address):
    """Opens the report and returns (page, complaints): errors of the page and requests to anywhere else."""
    contexts = []

    def open_page(**options):
        context = chromium.new_context(**options)
        contexts.append(context)
        page, complaints = context.new_page(), []
        page.on("pageerror", lambda e: complaints.append(str(e)))
        page.on("console", lambda m: complaints.append(m.text) if m.type == "error" else None)
        page.on("request", lambda r: complaints.append(r.url) if r.url != address else None)
        page.goto(address)
        return page, complaints

    yield open_page
    for context in contexts:
        context.close()


def draw_all(page):
    for key in page.eval_on_selector_all("[data-figure]", "nodes => nodes.map(n => n.dataset.figure)"):
        page.eval_on_selector(f"[data-figure='{key}']", "n => n.scrollIntoView()")
        page.wait_for_selector(f"[data-figure='{key}'] .main-svg")


@pytest.mark.parametrize("mode", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_every_figure_is_drawn_without_a_request_or_an_overflow(opened, mode, width):
    page, complaints = opened(color_scheme=mode, viewport={"width": width, "height": 800})
    draw_all(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert complaints == []


def ink(page):
    return page.eval_on_selector("[data-figure='pairs'] .xtick text", "n => getComputedStyle(n).fill")


def until(page, truth):
    """Waits for an expression: the page's policy forbids the evaluation that Playwright's own waiting needs."""
    for _ in range(200):
        if page.evaluate(truth):
            return
        page.wait_for_timeout(100)
    pytest.fail(f"never true: {truth}")


def test_figures_follow_the_mode_and_print_in_light(opened):
    page, complaints = opened(color_scheme="light")
    draw_all(page)
    light = ink(page)
    colour = "getComputedStyle(document.querySelector('[data-figure=pairs] .xtick text')).fill"
    page.emulate_media(color_scheme="dark")
    until(page, f"{colour} != '{light}'")
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    until(page, f"{colour} == '{light}'")
    assert complaints == []


def click(page, across, down):
    """Clicks into the map at shares of its width and height."""
    page.eval_on_selector("[data-figure='pairs']", "n => n.scrollIntoView({block: 'center'})")
    left, top, width, height = page.eval_on_selector(
        "[data-figure='pairs']",
        "n => { const p = n._fullLayout._plots.xy; const r = n.getBoundingClientRect();"
        " return [r.left + p.xaxis._offset, r.top + p.yaxis._offset, p.xaxis._length, p.yaxis._length]; }",
    )
    page.mouse.move(left + width * across - 2, top + height * down)
    page.mouse.move(left + width * across, top + height * down)
    page.wait_for_selector(".hoverlayer .hovertext")
    page.mouse.click(left + width * across, top + height * down)


def test_a_click_on_the_map_opens_the_tables_of_that_pair(opened):
    page, complaints = opened(viewport={"width": 1280, "height": 1600})
    draw_all(page)
    page.wait_for_selector("#pair-difference .main-svg")
    click(page, 0.5, 0.1)  # row age, column city: above the diagonal
    until(page, "document.getElementById('pair-name').textContent == 'age x city'")
    assert page.inner_text("#pair-which") == "one"
    click(page, 0.1, 0.5)  # the same pair below it: the second table
    until(page, "document.getElementById('pair-which').textContent == 'two'")
    assert complaints == []


def test_the_keyboard_reaches_the_tables_of_a_pair_and_the_numbers_of_a_figure(opened):
    page, complaints = opened()
    draw_all(page)
    page.select_option("#pair-column", label="job")
    page.select_option("#pair-row", label="sex")
    until(page, "document.getElementById('pair-name').textContent == 'sex x job'")
    page.focus("[data-numbers='spread'] summary")
    page.keyboard.press("Enter")
    page.wait_for_selector("[data-numbers='spread'] td")
    assert "triples" in page.inner_text("[data-numbers='spread']")
    assert complaints == []


def test_the_lists_choose_attribute_and_tables(opened):
    page, complaints = opened()
    draw_all(page)
    caption = "[data-figure='one-way'] + figcaption"
    before = page.inner_text(caption)
    page.select_option("[data-for='one-way']", index=1)
    until(page, f'document.querySelector("{caption}").textContent != {before!r}')
    page.select_option("#map-b", index=0)
    both = page.eval_on_selector("[data-figure='pairs']", "n => [n.data[0].z[0][1], n.data[0].z[1][0]]")
    assert both[0] == both[1]
    assert complaints == []
