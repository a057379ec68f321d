"""The form of a refit in the app: every kind of rule, the seed, on Synthesize and Export, and nothing charged."""

from dpsyn_core.privacy.ledger.ledger import Ledger
from dpsyn_core.privacy.manifest.manifest import Manifest
from dpsyn_core.runs.jobs.folder import MANIFEST, SYNTHETIC
from dpsyn_core.runs.refits.refit import described_by
from dpsyn_core.schema.rules.rule_breaks import broken_counts
from dpsyn_core.tables.read import read_table
from tests.app.test_jobs import ended
from tests.app_driver import at_page, space_of, words
from ui.shared.state import jobs


def paid(app):
    """A run of the sample by the cheapest system; the job."""
    at_page(app, "synthesize")
    app.selectbox(key="method").select("independent").run()
    app.button(key="synthesize").click().run()
    return ended(jobs().of(space_of(app).owner)[0])


def opened(app):
    at_page(app, "export")
    app.toggle(key="export_refits").set_value(True).run()
    assert not app.exception


def newest(app):
    return ended(jobs().of(space_of(app).owner)[0])


def test_the_seed_of_the_run_makes_its_table_again_and_another_seed_another(app):
    first = paid(app)
    spent = Ledger().entries("sample")
    seed = Manifest.load(first.folder / MANIFEST).seed
    made = []
    for chosen in (seed, 7):
        opened(app)
        assert str(seed) in app.number_input(key="export_refit_seed").help
        app.number_input(key="export_refit_seed").set_value(chosen).run()
        app.button(key="export_refit_start").click().run()
        made.append(newest(app))
    same, other = (read_table(job.folder / SYNTHETIC) for job in made)
    assert same.equals(read_table(first.folder / SYNTHETIC)) and not other.equals(same)
    assert [job.spec.seed for job in made] == [seed, 7]
    assert Ledger().entries("sample") == spent


RULES = {
    "order": ({"lower": "WKSWORK", "upper": "HRSWORK"}, {}, {}),
    "difference": ({"of": "AGE", "minus": "WKSWORK", "difference": "FAMSIZE"}, {}, {}),
    "sum": ({"sum": "AGE"}, {"parts": ["WKSWORK", "FAMSIZE"]}, {}),
    "ratio": ({"ratio": "INCWAGE", "divided": "HRSWORK", "by": "WKSWORK"}, {}, {}),
    "impossible": ({}, {}, {"where": "AGE in [0, 15] and MARST = Married"}),
    "follows": ({"follows": "RACE"}, {"follows_of": ["CITY"]}, {}),
    "unique": ({}, {"unique": ["AGE", "INCWAGE", "CITY", "WKSWORK"]}, {}),
}


def fill(app, kind, key):
    one, several, typed = RULES[kind]
    app.segmented_control(key=f"{key}_kind").set_value(kind).run()
    for field, names in several.items():
        app.multiselect(key=f"{key}_{field}").set_value(names).run()
    for field, name in one.items():
        app.selectbox(key=f"{key}_{field}").select(name).run()
    for field, text in typed.items():
        app.text_input(key=f"{key}_{field}").set_value(text).run()
    app.button(key=f"{key}_add").click().run()


def test_rules_of_every_kind_are_added_listed_taken_out_and_kept(app):
    paid(app)
    opened(app)
    for number, kind in enumerate(RULES):
        fill(app, kind, "export_refit_rule")
        assert not app.exception and not app.error, (kind, [e.value for e in app.error])
        assert f"Further rules ({number + 1})" in words(app)
    app.button(key=f"export_refit_rule_remove_{list(RULES).index('ratio')}").click().run()
    assert f"Further rules ({len(RULES) - 1})" in words(app)
    app.number_input(key="export_refit_size").set_value(300).run()
    app.button(key="export_refit_start").click().run()
    job = newest(app)
    assert job.state == "done", job.failure()
    assert [r["kind"] for r in job.spec.rules] == [k for k in RULES if k != "ratio"]
    ruled = described_by(space_of(app).schema, Manifest.load(job.folder / MANIFEST).refit)
    made = read_table(job.folder / SYNTHETIC)
    assert made.num_rows == 300 and not any(n for _, n in broken_counts(made, ruled))


def test_a_further_rule_that_cannot_be_is_refused_at_once(app):
    paid(app)
    opened(app)
    fill(app, "order", "export_refit_rule")
    app.segmented_control(key="export_refit_rule_kind").set_value("impossible").run()
    app.text_input(key="export_refit_rule_where").set_value("AGE in [0, 120]").run()
    app.button(key="export_refit_rule_add").click().run()
    assert app.error and "Further rules (1)" in words(app)
    app.multiselect(key="export_refit_columns").set_value(["AGE", "CITY"]).run()
    app.button(key="export_refit_start").click().run()
    assert "left out" in app.error[0].value
