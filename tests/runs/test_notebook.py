"""A release in a notebook: promise and worth, from released values, with every text escaped."""

import re

import pandas as pd
import pytest

from dpsyn_core import Schema, synthesize
from dpsyn_core.privacy.ledger.ledger import Ledger
from dpsyn_core.runs.notebook import RECORDS, worth

DOCUMENT = {
    "version": 1,
    "name": "people",
    "attributes": [
        {"name": "<b>sex</b>", "kind": "categorical", "values": ["<script>alert(1)</script>", "M&M"]},
        {"name": "age", "kind": "numeric", "dtype": "integer", "min": 0, "max": 9},
    ],
}


@pytest.fixture(scope="module")
def release(tmp_path_factory):
    rows = {"<b>sex</b>": ["<script>alert(1)</script>", "M&M"] * 400, "age": list(range(10)) * 80}
    ledger = Ledger(tmp_path_factory.mktemp("home") / "ledger.db")
    return synthesize(
        pd.DataFrame(rows), Schema.of(DOCUMENT), epsilon=1.0, delta=1e-9, rng=1, method="independent", ledger=ledger
    )


def test_the_promise_and_the_error_to_expect_are_shown(release):
    page = release._repr_html_()
    assert release.manifest.guarantee in page
    one = next(m for m in release.released if m.attributes == ("age",))
    n = sum(release.released[0].values.ravel()) if not release.released[0].attributes else 800
    expected = 10 * one.sigma * (2 / 3.14159265) ** 0.5 / (2 * n)
    said = re.search(r"2 released tables of one column: noise moves [\d.]+% .* ([\d.]+)% of the worst", page)
    assert float(said[1]) / 100 == pytest.approx(expected, rel=0.1)
    assert page.count("<tr>") == 4 + 1 + 1 + RECORDS - 1


def test_nothing_in_a_table_is_run_by_a_notebook(release):
    page = release._repr_html_()
    assert "<script>" not in page and "<b>" not in page
    assert "&lt;script&gt;alert(1)" in page and "&lt;b&gt;sex" in page and "M&amp;M" in page


def test_a_release_that_is_not_private_says_so_first_and_one_without_tables_states_no_error(release):
    from dataclasses import replace

    stamped = release.manifest.model_copy(update={"private": False, "not_private_because": ("somebody <i>looked</i>",)})
    page = replace(release, manifest=stamped)._repr_html_()
    assert page.index("NOT PRIVATE") < page.index("Promise") and "somebody &lt;i&gt;looked" in page
    assert worth([]) == ["no tables with a known error were released; compare the records with a report"]
