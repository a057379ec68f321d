"""The HTML report: one file that asks for nothing, wears its labels, and survives hostile names."""

import dataclasses
import json
import re
from html.parser import HTMLParser

import numpy as np
import pytest
from jinja2 import UndefinedError

from dpsyn_core.evaluate.base import PRIVATE_LABEL, SAFE_LABEL, compute, names
from dpsyn_core.evaluate.comparison import Comparison, Roles
from dpsyn_core.evaluate.language import ask, parse
from dpsyn_core.privacy.budget import Budget
from dpsyn_core.privacy.charge import Charge
from dpsyn_core.privacy.manifest.manifest import Manifest
from dpsyn_core.privacy.manifest.statement import Booking
from dpsyn_core.privacy.unit import Unit
from dpsyn_core.report import figures
from dpsyn_core.report.build import SIDE, coarse_map, embedded_pairs, pair_tables
from dpsyn_core.report.document import ScoredTable, bands, dumps, report_document
from dpsyn_core.report.html import html_report, sample_note
from dpsyn_core.report.page import _environment, _numeric, embedded
from dpsyn_core.report.theme import DARK, LIGHT, paint
from dpsyn_core.report.wording import words as catalogue
from dpsyn_core.runs.verify.receipts import Receipt
from dpsyn_core.schema.domain import CodedAttribute, Domain
from tests.evaluate.tables import brute, draw, small, small_domain
from tests.evaluate.test_released_fit import measured
from tests.privacy.facts import split
from tests.report.drawn import to_plotly

FAST = [n for n in names() if n != "learning"]


def manifest(**change):
    sigma = 9.0
    charge = Charge(name="marginal age x sex", mechanism="gaussian", sensitivity=1, scale=sigma, cells=24,
                    rho=1 / (2 * sigma**2))  # fmt: skip
    return Manifest.build(
        budget=Budget(epsilon=1, delta=1e-9), unit=Unit(), charges=[charge], method="rls", settings={}, n_records=500,
        booking=Booking("toy", "0"), seed=1, seconds=1, **split({"name": "toy"} | change),
    )  # fmt: skip


def scored(name="one", blur=0.2, wanted=FAST, **rest):
    c = small(n=400, m=500, blur=blur, roles=Roles(income="pay"), **rest)
    return ScoredTable(name=name, comparison=c, scores=compute(c, wanted), manifest=manifest())


class Reader(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.tags, self.words, self.depth = [], [], 0
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self.depth += tag in ("script", "style")

    def handle_endtag(self, tag):
        self.depth -= tag in ("script", "style")

    def handle_data(self, data):
        if not self.depth:
            self.words.append(data)

    @property
    def text(self):
        return " ".join(" ".join(self.words).split())


def data_of(page):
    return json.loads(re.search(r"id='data'>(.*?)</script>", page, re.S)[1])


@pytest.fixture(scope="module")
def page():
    return html_report("toy", [scored(), scored("two", 0.6)])


def test_the_file_asks_for_nothing(page):
    reader = Reader(page)
    for tag, attributes in reader.tags:
        assert tag not in ("link", "iframe", "img", "object", "embed", "base", "form")
        assert "src" not in attributes
        assert str(attributes.get("href", "#")).startswith("#")
    policy = next(a["content"] for t, a in reader.tags if t == "meta" and "http-equiv" in a)
    assert "default-src 'none'" in policy


def test_every_part_that_reads_the_real_table_wears_the_label(page):
    reader = Reader(page)
    assert page.count(f"<span class='tag private'>{PRIVATE_LABEL}</span>") >= 7
    for words in ("Where it differs", "Ranges", "Income inequality", "What the scores ask", "guarantee"):
        assert words in reader.text
    assert "Epsilon 1, delta 1e-09" in reader.text
    assert "at most 73 guess right" in reader.text


def test_every_figure_has_a_description_a_caption_and_data(page):
    found = data_of(page)
    frames = [a for t, a in Reader(page).tags if "data-figure" in a]
    assert {a["data-figure"] for a in frames} == set(found["figures"])
    for frame in frames:
        assert len(frame["aria-label"]) > 15
    for specs in found["figures"].values():
        for spec in specs:
            assert spec["caption"]
            assert spec["data"]
            to_plotly(figures.Figure(data=spec["data"], layout=spec["layout"]), DARK)  # plotly accepts every property


@pytest.mark.slow
def test_the_map_and_the_tables_of_a_pair_hold_the_counts(page):
    pairs = data_of(page)["pairs"]
    first, second = scored().comparison, scored("two", 0.6).comparison
    assert pairs["sizes"] == [400, 500, 500]
    for key, (real, one, two) in pairs["tables"].items():
        index = [int(k) for k in key.split("|")]
        shape = [first.domain.sizes[i] for i in index]
        assert real == brute(first.real, index, shape).ravel().tolist()
        assert one == brute(first.synthetic, index, shape).ravel().tolist()
        assert two == brute(second.synthetic, index, shape).ravel().tolist()
    z = np.array(data_of(page)["figures"]["pairs"][0]["data"][0]["z"], dtype=float)
    np.testing.assert_allclose(z[np.triu_indices(5, 1)], pairs["triangles"]["one"], atol=1e-5)
    np.testing.assert_allclose(z.T[np.triu_indices(5, 1)], pairs["triangles"]["two"], atol=1e-5)


def test_large_attributes_are_merged_for_the_tables_of_a_pair_and_nothing_is_lost():
    domain = Domain((
        CodedAttribute(name="x", size=101, ordered=True, special=1),
        CodedAttribute(name="y", size=62, special=2),
        CodedAttribute(name="z", size=3),
    ))  # fmt: skip
    rng = np.random.default_rng(0)
    codes = np.stack([rng.integers(0, s, 300) for s in domain.sizes]).astype(np.uint8)
    c = Comparison(domain=domain, real=codes, synthetic=codes)
    for a in domain.attributes:
        recode, labels = coarse_map(c, a)
        assert len(recode.map) == a.size
        assert sorted(set(recode.map.tolist())) == list(range(len(labels)))
        assert len(labels) <= SIDE
        assert labels[len(labels) - a.special :] == c.words(a.name)[a.size - a.special :]
    assert (np.diff(coarse_map(c, domain["x"])[0].map) >= 0).all()
    tables = pair_tables([c], [("x", "y")])["tables"]["0|1"]
    assert [sum(t) for t in tables] == [300, 300]


def test_a_wide_table_embeds_the_worst_pairs_only():
    sets = Domain.of({f"c{i}": 2 for i in range(40)}).subsets(2)
    tvd = np.arange(len(sets), dtype=float)
    assert embedded_pairs(sets, tvd) == sets[:-61:-1]
    assert embedded_pairs(sets[:100], tvd[:100]) == sets[:100]


HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)>%{x} & \u2028 'q' \"d\" {{ 6 * 7 }} {% raw %}"


def test_the_readers_own_queries_are_answered_for_every_table():
    tables = []
    for t in (scored(wanted=["tvd-1way"]), scored("two", 0.6, ["tvd-1way"])):
        c = t.comparison
        tables.append(dataclasses.replace(t, answers=ask(c, [parse("age in [2, 4] and sex in {1}", c)])))
    reader = Reader(html_report("toy", tables))
    assert "Your questions" in reader.text
    assert "age in [2, 4] and sex in {1}" in reader.text
    entry = report_document("toy", tables)["tables"][1]["answers"][0]
    c = tables[1].comparison
    want = ((c.real[0] >= 2) & (c.real[0] <= 4) & (c.real[1] == 1)).sum()
    assert entry["real"] == want


def test_hostile_names_and_labels_stay_text():
    domain = Domain(tuple(
        dataclasses.replace(a, name=HOSTILE + a.name if a.name in ("city", "pay") else a.name)
        for a in small_domain().attributes
    ))  # fmt: skip
    words = [f"{HOSTILE}\u202e{i}" for i in range(5)]
    c = Comparison(domain=domain, real=draw(200, 1), synthetic=draw(200, 2), labels={HOSTILE + "city": words},
                   roles=Roles(income="age", group=HOSTILE + "city", split="sex"))  # fmt: skip
    turned = HOSTILE + "\u2067"
    page = html_report(turned, [ScoredTable(name=turned, comparison=c, scores=compute(c, FAST))])
    reader = Reader(page)
    assert [t for t, _ in reader.tags if t == "img"] == []
    assert len([t for t, _ in reader.tags if t == "script"]) == 4
    assert not any(key.startswith("on") for _, attributes in reader.tags for key in attributes)
    assert "alert(2)" in reader.text
    assert "{{ 6 * 7 }} {% raw %}" in reader.text
    assert "'q' \"d\"" in reader.text
    assert "\ufffd" in page and not re.search("[\u202a-\u202e\u2066-\u2069]", page)
    for specs in data_of(page)["figures"].values():
        for axis in (t.get(k) for s in specs for t in s["data"] for k in ("x", "y")):
            assert not any(isinstance(v, str) and ("<" in v or "%{" in v) for v in axis or [])


def test_names_of_tables_reach_plotly_as_plain_text():
    c = small(n=400, m=500, blur=0.2, roles=Roles(income="pay"))
    table = ScoredTable(name=HOSTILE, comparison=c, scores=compute(c, FAST))
    for specs in data_of(html_report("toy", [table]))["figures"].values():
        for trace in (t for s in specs for t in s["data"]):
            assert "<" not in trace.get("name", "") and "%{" not in trace.get("name", "")
            assert HOSTILE not in trace.get("hovertemplate", "")


def test_a_template_that_asks_for_a_value_that_is_not_there_fails():
    with pytest.raises(UndefinedError):
        _environment().from_string("{{ nothing }}").render()
    assert _environment().from_string("{{ x }}").render(x="<b>") == "&lt;b&gt;"


def test_numbers_that_a_draft_took_for_categories_are_merged_in_their_order():
    domain = Domain((CodedAttribute(name="age", size=60), CodedAttribute(name="y", size=2)))
    codes = np.stack([np.arange(60), np.zeros(60)]).astype(np.uint8)
    c = Comparison(domain=domain, real=codes, synthetic=codes, labels={"age": [str(i) for i in range(18, 78)]})
    recode, labels = coarse_map(c, domain["age"])
    assert labels[0] == "18-20" and labels[-1] == "75-77" and len(labels) == SIDE
    assert (np.diff(recode.map) >= 0).all()


def test_embedded_json_cannot_end_its_script():
    text = embedded({"a": HOSTILE, "b": float("nan"), "c": np.arange(2)})
    assert "<" not in text
    assert json.loads(text) == {"a": HOSTILE, "b": None, "c": [0, 1]}


def test_small_numbers_are_set_as_numbers_and_words_are_not():
    assert all(map(_numeric, ("7.5e-05", "1.8%", "0.00045", "\u2013", "830,348")))
    assert not any(map(_numeric, ("", "lower is better", "3 eggs", "2e")))


def test_the_public_report_holds_released_values_alone():
    c = Comparison(domain=small_domain(), synthetic=draw(300, 2), measurements=measured(draw(300, 1), 4.0, 0))
    table = ScoredTable(name="one", comparison=c, scores=compute(c, names(private=False)), manifest=manifest())
    assert SAFE_LABEL not in html_report("toy", [table])  # nobody has held the table against its manifest
    proved = Receipt(holds=True, own=True, sentence="the table is that of the manifest", manifest=table.manifest)
    table = dataclasses.replace(table, receipt=proved)
    page = html_report("toy", [table])
    assert PRIVATE_LABEL not in page
    assert SAFE_LABEL in page
    assert "pairs" not in data_of(page)
    assert "Fit to the released marginals" in Reader(page).text
    document = report_document("toy", [table])
    assert (document["label"], document["reads_private"], document["n_real"]) == (SAFE_LABEL, False, None)


def test_a_run_that_is_not_private_is_stamped_and_one_without_manifest_promises_nothing():
    stamped = dataclasses.replace(scored(wanted=["tvd-1way"]), manifest=manifest(reasons=["bins read from the data"]))
    reader = Reader(html_report("toy", [stamped]))
    assert "NOT PRIVATE." in reader.text
    assert "bins read from the data" in reader.text
    assert "guess right" not in reader.text
    unknown = Reader(html_report("toy", [dataclasses.replace(stamped, manifest=None)]))
    assert "nothing can be said about its guarantee" in unknown.text


def test_what_could_not_be_computed_is_said():
    c = Comparison(domain=Domain.of({"a": 3, "b": 2}), real=draw(50, 1)[[2, 1]] % 2, synthetic=draw(50, 2)[[2, 1]] % 2)
    reader = Reader(html_report("toy", [ScoredTable(name="one", comparison=c, scores=compute(c, FAST))]))
    assert "What could not be computed" in reader.text
    assert "name one with --income" in reader.text


def test_the_json_has_every_score_and_no_nan():
    tables = [scored(), scored("two", 0.6)]
    document = json.loads(dumps(report_document("toy", tables)))
    assert document["label"] == PRIVATE_LABEL
    assert [t["name"] for t in document["tables"]] == ["one", "two"]
    assert set(document["tables"][0]["scores"]) == set(FAST)
    assert document["tables"][0]["scores"]["measured-fit"]["error"]
    assert document["tables"][0]["manifest"]["epsilon"] == 1
    assert document["metrics"]["tvd-2way"]["label"] == PRIVATE_LABEL
    assert document["metrics"]["measured-fit"]["label"] == SAFE_LABEL


def test_bands_are_student_intervals_of_the_mean_over_repeats():
    tables = [scored(f"run {i}", 0.1 * i, ["tvd-1way", "measured-fit"]) for i in range(1, 5)]
    got = bands(tables)
    assert set(got) == {"tvd-1way"}
    values = np.array([t.scores["tvd-1way"].value for t in tables])
    half = 3.182446 * values.std(ddof=1) / 2  # Student's t at 97.5 %, three degrees of freedom
    assert got["tvd-1way"]["low"] == pytest.approx(values.mean() - half, rel=1e-6)
    assert got["tvd-1way"]["high"] == pytest.approx(values.mean() + half, rel=1e-6)
    assert bands(tables[:1]) == {}
    assert "Mean and 95% interval" in Reader(html_report("toy", tables, bands=got)).text


def test_an_alarm_names_its_table_where_there_are_several(monkeypatch):
    monkeypatch.setattr("dpsyn_core.report.html.alarm_lines", lambda table, words: ["Alarm: too near"])
    alone, both = (
        Reader(html_report("toy", [scored(n, wanted=[]) for n in names])).text for names in (["one"], ["one", "two"])
    )
    assert "Alarm: too near" in alone and "one: Alarm" not in alone
    assert "one: Alarm: too near" in both and "two: Alarm: too near" in both


def test_palettes_have_the_same_names_and_enough_contrast():
    def luminance(colour):
        rgb = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        r, g, b = (x / 12.92 if x <= 0.03928 else ((x + 0.055) / 1.055) ** 2.4 for x in rgb)
        return 0.2126 * r + 0.7152 * g + 0.0722 * b

    assert set(LIGHT) == set(DARK)
    for palette in (LIGHT, DARK):
        for name in (
            "ink",
            "muted",
            "accent",
            "real",
            "warning",
            "alarm",
            "second",
            "third",
            "fourth",
            "fifth",
            "sixth",
        ):
            a, b = sorted((luminance(palette[name]), luminance(palette["paper"])))
            assert (b + 0.05) / (a + 0.05) >= 4.5, name


def test_paint_replaces_tokens_and_leaves_other_text():
    value = {"a": ["@ink", "@nothing", "x@ink"], "b": ("@real", 1, None)}
    assert paint(value, LIGHT) == {"a": ["#1B1F24", "@nothing", "x@ink"], "b": ["#4C5866", 1, None]}


def test_axis_labels_fit_and_stay_different():
    assert figures.axis_labels(["a" * 30, "a" * 31, "b"], 10) == ["aaa…aaaaaa", "aaa…aaaaaa (2)", "b"]
    tariffs = ["Household, standard tariff", "Household, standard rate at night", "Heat pump, interruptible"]
    assert figures.axis_labels(tariffs) == ["Househ…dard tariff", "Househ…te at night", "Heat pump, interr…"]


def test_numbers_lead_the_headline_where_most_attributes_are_numbers():
    one = scored()
    one.scores["rank-correlation"] = one.scores["tvd-1way"]
    attributes = tuple(dataclasses.replace(a, number=True) for a in one.comparison.domain.attributes)
    numeric = dataclasses.replace(one.comparison, domain=Domain(attributes))
    text = html_report("toy", [dataclasses.replace(one, comparison=numeric)])
    words = [text.index(w) for w in ("rank correlations of numbers are off by", "pairs of attributes differ by")]
    assert words == sorted(words)
    few = html_report("toy", [one])
    assert few.index("pairs of attributes differ by") < few.index("rank correlations of numbers are off by")


def test_the_verdict_on_one_table_stands_at_the_top_of_the_json_and_of_several_in_their_entries():
    alone = report_document("toy", [scored()])
    assert alone["verdict"]["sentence"] and alone["verdict"] == alone["tables"][0]["verdict"]
    assert "verdict" not in report_document("toy", [scored(), scored("two", 0.6)])


def test_a_report_on_samples_says_of_how_many_records_and_one_on_all_records_says_nothing():
    whole = ScoredTable(name="one", comparison=small(n=400, m=500), scores=[])
    assert sample_note([whole], catalogue("en")) == ""
    drawn = dataclasses.replace(whole, comparison=dataclasses.replace(whole.comparison, synthetic_of=90_000))
    said = sample_note([whole, drawn], catalogue("en"))
    assert "500" in said and "90,000" in said and "400" not in said
    both = dataclasses.replace(drawn, comparison=dataclasses.replace(drawn.comparison, real_of=80_000))
    said = sample_note([both], catalogue("en"))
    assert all(number in said for number in ("400", "80,000", "500", "90,000"))
