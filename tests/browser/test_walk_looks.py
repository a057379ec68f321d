"""What holds on every page in a real browser: contrast, phones, keyboard, other machines, origins, links."""

import signal
import socket
from contextlib import suppress

import pytest

from benchmarks.pages import measured
from tests.browser.test_axe import findings
from ui.learn import LABS
from ui.shared.theme import DARK, LIGHT

pytestmark = pytest.mark.browser


def test_13_the_odds_change_with_epsilon_and_a_link_shares_them(visitor):
    visitor.open("privacy", "?epsilon=0.1")
    visitor.page.get_by_text("at most 52 guess right").wait_for()
    visitor.type("epsilon", "2")
    visitor.page.get_by_text("at most 88 guess right").wait_for()
    assert "epsilon=2" in visitor.page.url


def test_14_no_page_and_no_lab_asks_another_machine_for_anything(finished):
    for name in ("Data", "Schema", "Privacy", "Synthesize", "Report", "Export", "Learn"):
        finished.go(name)
    for lab in LABS:
        finished.move("learn", f"?lab={lab}&open=1")
        if lab != "race":  # its figure is made by Vega
            finished.drawn()
    assert finished.foreign == []
    finished.page.evaluate("fetch('http://example.org/probe').catch(() => 0)")
    finished.page.wait_for_timeout(300)
    assert finished.foreign == ["http://example.org/probe"], "the guard sees a request that leaves"
    finished.foreign.clear()


# texts whose contrast with what lies behind them is below 4.5 (3 for large ones); left out are disabled ones and the
# value of a slider, which stands above the knob that holds it
FAINT = """() => {
  const rgb = c => (c.match(/[\\d.]+/g) || []).map(Number).map((v, i) => c.startsWith('color(') && i < 3 ? v * 255 : v);
  const lum = c => c.slice(0, 3).map(v => v / 255).map(v => v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4)
    .reduce((s, v, i) => s + v * [.2126, .7152, .0722][i], 0);
  const over = (a, b) => { const t = a[3] ?? 1; return [0, 1, 2].map(i => t * a[i] + (1 - t) * b[i]); };
  const behind = e => { const stack = []; for (; e; e = e.parentElement) {
      const c = rgb(getComputedStyle(e).backgroundColor);
      if ((c[3] ?? 1) > 0) stack.push(c);
      if ((c[3] ?? 1) == 1) break; }
    return stack.reverse().reduce((b, a) => over(a, b), [255, 255, 255]); };
  const out = [];
  for (const e of document.querySelectorAll('[data-testid=stMain] *, [data-testid=stSidebar] *')) {
    const text = [...e.childNodes].filter(n => n.nodeType == 3).map(n => n.data.trim()).join('');
    const box = e.getBoundingClientRect(), style = getComputedStyle(e);
    if (!text || !box.width || e.closest('[disabled], [aria-disabled=true], svg, style, script, canvas')) continue;
    if (e.closest('[data-testid=stSliderThumbValue]')) continue;
    if (style.visibility != 'visible' || +style.opacity < .5) continue;
    const back = behind(e), [a, b] = [lum(over(rgb(style.color), back)), lum(back)].sort((x, y) => y - x);
    const ratio = (a + .05) / (b + .05), large = parseFloat(style.fontSize) >= 20;
    if (ratio < (large ? 3 : 4.5)) out.push(`${text.slice(0, 40)} ${ratio.toFixed(2)}`);
  } return [...new Set(out)]; }"""


# page and, on Report, the view that is pressed
PAGES = ("", "schema", "privacy", "questions", "synthesize", "report", "report/Explore", "export", "learn")


@pytest.mark.parametrize("name", PAGES)
def test_15_a_page_suits_every_eye_reader_and_window(finished, name):
    """One visit: axe finds nothing serious, words stand out in both modes, and nothing is cut off or out of order."""
    from playwright.sync_api import TimeoutError

    page, _, view = name.partition("/")
    finished.look(page)
    if view:
        finished.pick(view)
    try:
        for mode, rules in (
            ("light", None),
            ("dark", ["color-contrast"]),
        ):  # what else there is does not hang on colours
            finished.page.emulate_media(color_scheme=mode)
            finished.settle()  # the server draws figures anew in the other colours
            assert findings(finished.page, rules) == [], mode
            with suppress(TimeoutError):
                finished.page.wait_for_function(f"() => ({FAINT})().length === 0", timeout=15_000, polling=500)
            assert finished.page.evaluate(FAINT) == [], mode
        for width, height in ((1280, 800), (390, 844)):
            finished.page.set_viewport_size({"width": width, "height": height})
            seen = measured(finished.settle().page, {"report/Explore": "report, explore"}.get(name, page), 0.0)
            assert not [fault for fault in seen.faults() if "cut off" not in fault]
        wide = finished.page.evaluate(
            "Math.max(...['stMain', 'stMainBlockContainer'].map(n => document.querySelector(`[data-testid=${n}]`)"
            ".scrollWidth))"
        )
        assert wide <= 390
    finally:
        finished.page.emulate_media(color_scheme="light")
        finished.page.set_viewport_size({"width": 1280, "height": 900})


# pixels from the foot of each legend to the head of its plot
ABOVE = """() => [...document.querySelectorAll('.js-plotly-plot')].map(p =>
  p.getBoundingClientRect().top + p._fullLayout._size.t - p.querySelector('.legend').getBoundingClientRect().bottom)"""


def test_15_a_legend_stays_above_its_plot_when_a_window_grows(another):
    from playwright.sync_api import TimeoutError

    one = another()
    one.page.set_viewport_size({"width": 390, "height": 900})
    one.open("learn", "?lab=membership&open=1&lang=en")
    one.plots()
    for width in (390, 1920, 700, 1280):
        one.page.set_viewport_size({"width": width, "height": 900})
        one.page.wait_for_timeout(1200)  # what was right for the width before is drawn anew, on a busy machine later
        with suppress(TimeoutError):
            one.page.wait_for_function(f"() => ({ABOVE})().every(room => 0 <= room && room < 40)", timeout=15_000)
        rooms = one.page.evaluate(ABOVE)
        assert rooms and all(0 <= room < 40 for room in rooms), f"{width} pixels: {rooms}"


def test_15_the_keyboard_alone_makes_a_run(visitor):
    visitor.long().open()
    seen = []
    for _ in range(60):
        visitor.page.keyboard.press("Tab")
        label = visitor.page.evaluate("document.activeElement.innerText || document.activeElement.ariaLabel || ''")
        seen.append(label.strip())
        if label.strip() == "Synthesize" and "Export" in seen:
            break
    assert {"Data", "Schema", "Privacy", "Export"} <= set(seen), "the pages at the top are reached"
    assert seen[-1] == "Synthesize"
    visitor.page.keyboard.press("Enter")
    visitor.page.get_by_role("button", name="Cancel").first.click()


def test_15_the_page_follows_the_mode_of_the_browser(another):
    dark = another(color_scheme="dark")
    dark.open("privacy")
    shade = dark.page.evaluate("getComputedStyle(document.querySelector('[data-testid=stApp]')).backgroundColor")
    assert shade == "rgb(20, 23, 26)"


def test_15_words_are_read_in_the_other_mode_before_the_server_has_answered(server, visitor):
    visitor.open("questions")
    server.process.send_signal(signal.SIGSTOP)  # as busy as can be: nothing comes anew
    try:
        for mode, palette in (("dark", DARK), ("light", LIGHT)):
            visitor.page.emulate_media(color_scheme=mode)
            visitor.page.wait_for_function(
                """([mode, colour]) => { const app = document.querySelector('.stApp');
                const probe = document.createElement('i');
                probe.style.color = colour;
                app.append(probe);
                const meant = getComputedStyle(probe).color;
                probe.remove();
                return getComputedStyle(app).colorScheme === mode
                  && getComputedStyle(document.querySelector('.dp-side dt')).color === meant; }""",
                arg=[mode, palette.real],
                timeout=10_000,
            )
    finally:
        server.process.send_signal(signal.SIGCONT)


def test_15_every_figure_and_table_has_words_for_those_who_cannot_see_it(finished):
    for page, figures in (("Privacy", 1), ("Report", 3)):
        finished.go(page)
        finished.plots()
        labels = finished.page.evaluate(
            "[...document.querySelectorAll('[data-testid=stPlotlyChart]')].map(e => "
            "(e.closest('[aria-label]') || e.querySelector('[aria-label]') || {ariaLabel: ''}).ariaLabel)"
        )
        assert len(labels) >= figures, page
        assert all(labels), page


@pytest.mark.parametrize(
    "head", [{"Host": "evil.example"}, {"Origin": "http://evil.example"}, {"Origin": "http://127.0.0.1.evil.example"}]
)
def test_19_a_session_from_another_origin_or_host_is_refused_without_asking_anybody(server, visitor, head):
    visitor.open()
    lines = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13",
             "Sec-WebSocket-Key": "x3JJHMbDL1EzLkh9GBhXDw==", "Host": server.url[7:], "Origin": server.url}  # fmt: skip

    def knock(headers):
        text = "GET /_stcore/stream HTTP/1.1\r\n" + "".join(f"{k}: {v}\r\n" for k, v in headers.items()) + "\r\n"
        with socket.create_connection(("127.0.0.1", server.port), timeout=20) as link:
            link.sendall(text.encode())
            return link.recv(200).split()[1]

    assert knock(lines) == b"101"
    assert knock({**lines, **head}) == b"403"
    assert "external IP" not in server.log.read_text(errors="replace")


BEYOND = """() => [...document.querySelectorAll('.js-plotly-plot')]
    .flatMap(p => [...p.querySelectorAll('.main-svg text')]
    .filter(e => { const b = e.getBoundingClientRect(), f = p.getBoundingClientRect();
        return b.width > 0 && (b.left < f.left - 2 || b.right > f.right + 2) }).map(e => e.textContent))"""


@pytest.mark.parametrize("language", ["en", "de"])
def test_no_word_of_a_figure_lies_beyond_it_on_a_phone(visitor, language):
    visitor.page.set_viewport_size({"width": 390, "height": 900})
    visitor.open("learn", f"?lab=consistency&open=1&lang={language}").plots()
    assert visitor.page.evaluate(BEYOND) == []
    visitor.move("learn", "?lab=records&open=1").plots()
    assert visitor.page.evaluate(BEYOND) == []
    ticks = visitor.page.locator(".xtick text").all_text_contents()
    assert {"en": "10,000", "de": "10.000"}[language] in ticks and not any(x.endswith("k") for x in ticks)


def test_on_a_phone_the_menu_closes_when_a_page_is_chosen(visitor):
    visitor.page.set_viewport_size({"width": 390, "height": 844})
    visitor.open()
    visitor.page.get_by_test_id("stExpandSidebarButton").click()
    menu = visitor.page.get_by_test_id("stSidebar")
    menu.get_by_role("link", name="Privacy").click()
    visitor.page.get_by_role("heading", level=1, name="How much privacy").wait_for()
    visitor.settle()
    assert menu.bounding_box()["x"] + menu.bounding_box()["width"] <= 0, "it no longer covers the page"
