"""Marginals and itemsets from the Synthesize page: priced, charged on the ledger, and stated in a manifest."""

from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest

from dpsyn_core.privacy.ledger.ledger import Ledger
from dpsyn_core.questions.answers import marginals
from dpsyn_core.schema.sample import sample_schema, sample_table
from tests.app_driver import at_page, words
from ui.data.loading import Dataset, place
from ui.shared.state import workspaces

pytestmark = pytest.mark.slow  # children and whole runs


def space_of(app):
    return workspaces().find(app.session_state["owner"])


def test_a_marginal_is_priced_released_charged_and_downloadable(app):
    at_page(app, "synthesize")
    app.multiselect(key="answers_columns").set_value(["SEX", "MARST"]).run()
    assert "standard deviation of" in words(app)
    space = space_of(app)
    assert not Ledger().entries(space.dataset.ledger)
    app.text_input(key="answers_marginals_price").set_value("0.5").run()
    app.button(key="answers_release_marginals").click().run()
    assert not app.exception
    made = space.memo["answers_marginals"][1]
    frame = next(d.value for d in app.dataframe if d.value is not None and "MARST" in d.value)
    assert len(frame) == 2 * sample_schema()["MARST"].size
    assert frame["count"].sum() == pytest.approx(20_000, rel=0.05)  # noise of some hundreds at most
    assert made.manifest.epsilon == 0.5
    assert made.manifest.private
    booked = Ledger().entries(space.dataset.ledger)
    assert [(e.method, e.epsilon) for e in booked] == [("priview", 0.5)]
    app.multiselect(key="answers_columns").set_value(["AGE", "RACE"]).run()
    assert not app.exception
    assert "nothing further is charged" in words(app)
    assert any("RACE" in d.value for d in app.dataframe)
    assert len(Ledger().entries(space.dataset.ledger)) == 1
    for rule in ("least-norm", "maximum-entropy"):
        app.selectbox(key="answers_rule").set_value(rule).run()
        assert not app.exception
    assert len(Ledger().entries(space.dataset.ledger)) == 1
    app.button(key="answers_release_marginals").click().run()
    assert len(Ledger().entries(space.dataset.ledger)) == 2


def test_released_tables_that_still_differ_are_named_under_the_marginal_and_others_are_not():
    def page(apart, wide):
        import numpy as np

        from dpsyn_core.estimate import Reconstruction
        from dpsyn_core.schema import sample_schema
        from ui.shared.marginals import shown

        values = np.array([600.0, 400.0])
        left = {"apart": apart, "wide": wide}
        found = Reconstruction(attributes=("SEX",), values=values, covered=True, residual=0.0, sweeps=0, **left)
        shown(found, sample_schema(), key="it")

    nothing = words(AppTest.from_function(page, args=(0.0, False), default_timeout=120).run())
    assert "still differ" not in nothing and "500,000" not in nothing
    seen = AppTest.from_function(page, args=(3.2, True), default_timeout=120).run()
    assert not seen.exception and "still differ by up to 3.2 records" in words(seen)
    assert f"more than {marginals.WHOLE:,} cells together" in words(seen)


def test_a_press_releases_nothing_of_a_table_that_another_tab_has_loaded(app):
    at_page(app, "synthesize")
    app.multiselect(key="answers_columns").set_value(["SEX", "MARST"]).run()
    space = space_of(app)
    space.dataset = replace(space.dataset, serial="another")
    app.button(key="answers_release_marginals").click().run()
    assert not app.exception and not Ledger().entries(space.dataset.ledger)
    assert "nother tab loaded another table, and nothing was spent" in app.error[0].value


def test_a_combination_with_too_many_cells_is_refused_before_it_is_paid(app):
    at_page(app, "synthesize")
    app.multiselect(key="answers_columns").set_value(["AGE", "OCC", "INCWAGE", "CITY", "EDUC"]).run()
    assert "choose fewer columns" in words(app)
    assert not [b for b in app.button if b.key == "answers_release_marginals"]


def test_itemsets_are_found_in_the_baskets_and_charged(app):
    at_page(app, "synthesize")
    space = space_of(app)
    place(space, Dataset("baskets.csv", "baskets", sample_table("baskets")), sample_schema("baskets"))
    app.run()
    app.segmented_control(key="answers_kind").set_value("itemsets").run()
    app.number_input(key="answers_k").set_value(5).run()
    app.button(key="answers_release_itemsets").click().run()
    assert not app.exception
    rows, manifest = space.memo["answers_itemsets"]
    assert len(rows) == 5
    assert manifest.delta == 0
    assert [e.method for e in Ledger().entries("baskets")] == ["privbasis"]


def test_a_table_without_yes_no_columns_says_so(app):
    at_page(app, "synthesize")
    schema = sample_schema()
    keep = [a for a in schema.document()["attributes"] if a["name"] in ("AGE", "RACE")]
    place(
        space_of(app), Dataset("few.csv", "few", sample_table().select(["AGE", "RACE"])),
        type(schema).of({"version": 1, "name": "few", "attributes": keep}),
    )  # fmt: skip
    app.run()
    app.segmented_control(key="answers_kind").set_value("itemsets").run()
    assert "exactly two values" in words(app)
