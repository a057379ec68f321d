"""What is declared in the app after exact answers about the table were shown stays marked until it is confirmed."""

import json

import pytest

from dpsyn_core.commands.schemas.check import remember_rules
from dpsyn_core.privacy.looks import remembered
from dpsyn_core.privacy.manifest.manifest import Manifest
from dpsyn_core.runs.jobs.folder import MANIFEST
from dpsyn_core.runs.open import public_facts
from dpsyn_core.schema.document import Schema
from dpsyn_core.schema.drafts.confirmation import confirm
from dpsyn_core.schema.linked import LinkedSchema
from tests.app.linked_tables import PATIENTS, VISITS, field, linked, with_files, with_panel, with_sample
from tests.app.test_jobs import ended
from tests.app_driver import at_page, dialog, space_of, uploaded, words
from ui.linked import limits, loading
from ui.schema import tried, unit
from ui.shared.state import Dataset, Workspace, jobs
from ui.synthesize.starting import spec_of, start

pytestmark = pytest.mark.slow  # an upload is read in a child process

PEOPLE = b"a,b,c\n" + b"".join(b"%d,%d,%d\n" % (i % 67, i % 67 + i % 40, i % 71) for i in range(400))
RULE = {"kind": "order", "lower": "a", "upper": "b"}


def declare(app, upper="b"):
    app.selectbox(key="rule_lower").select("a").run()
    app.selectbox(key="rule_upper").select(upper).run()
    return app.button(key="rule_add").click().run()


def test_a_rule_that_is_added_after_a_look_is_marked_and_one_press_confirms_it(app):
    uploaded(app, name="people.csv", raw=PEOPLE)
    space = space_of(app)
    space.schema = confirm(space.schema, everything=True)
    at_page(app, "schema")
    declare(app)
    assert [r.source for r in space.schema.rules] == ["public"] and space.schema.private
    dialog(app, "misfits")
    app.button(key="misfits_look").click().run()
    assert remembered(space.dataset.serial, "rules")
    assert [r.source for r in space.schema.rules] == ["public"], "it was declared before the look"
    declare(app, "c")
    assert [r.source for r in space.schema.rules] == ["public", "data"] and not space.schema.private
    assert "Declared after exact answers about the table were shown" in words(app)
    assert "the rule 'a <= c' was chosen after rules were tried on the data" in space.schema.reasons
    app.button(key="rule_known").click().run()
    assert [r.source for r in space.schema.rules] == ["public", "public"] and space.schema.private


def test_a_schema_file_whose_rules_say_no_source_is_read_by_what_was_shown_before(app):
    uploaded(app, name="people.csv", raw=PEOPLE)
    space = space_of(app)
    told = [RULE, RULE | {"upper": "c", "source": "public"}]
    schema = Schema.of(confirm(space.schema, everything=True).document() | {"rules": told})
    tables = tried.names(space)
    assert [r.source for r in tried.taken(space, schema).rules] == ["public", "public"]
    tried.see(tables)
    assert [r.source for r in tried.taken(space, schema).rules] == ["data", "public"]
    space.dataset = Dataset("sample", "sample", space.dataset.table, sample=True)
    assert tried.names(space) == (), "a sample protects nobody"


def test_a_look_from_the_shell_marks_what_the_app_takes_and_a_look_in_the_app_what_the_shell_runs(app):
    uploaded(app, name="people.csv", raw=PEOPLE)
    space = space_of(app)
    silent = Schema.of(confirm(space.schema, everything=True).document() | {"rules": [RULE]})

    def stamped(schema):
        return bool(public_facts(schema, dataset=None, query_vouched=False, reasons=(), public_table=None).reasons)

    assert not stamped(silent.booked_as(space.dataset.ledger))
    tried.see(tried.names(space))
    assert stamped(silent.booked_as(space.dataset.ledger)), "the look was in the app"
    for name, booked in (("patients", "patients"), ("clients", "office")):  # as it is loaded, and as the file says
        uploaded(app, name=f"{name}.csv", raw=PEOPLE + b"%d,5,5\n" % len(name))
        space, schema = space_of(app), silent.booked_as(booked)
        assert [r.source for r in tried.taken(space, schema).rules] == ["public"]
        remember_rules(schema)
        assert [r.source for r in tried.taken(space, schema).rules] == ["data"]


def test_on_a_shared_server_a_look_of_one_visitor_marks_no_rule_of_another(app, monkeypatch):
    monkeypatch.setattr(tried, "shared", lambda: True)
    uploaded(app, name="people.csv", raw=PEOPLE)
    mine = space_of(app)
    schema = Schema.of(confirm(mine.schema, everything=True).document() | {"rules": [RULE]})
    other = Workspace("somebody else", dataset=Dataset("people.csv", mine.dataset.ledger, mine.dataset.table))
    tried.see(tried.names(other))
    assert [r.source for r in tried.taken(other, schema).rules] == ["data"]
    assert [r.source for r in tried.taken(mine, schema).rules] == ["public"], "another visitor looked"
    mine.dataset.serial = "changed"  # another version of one's own table, under its name on the ledger
    tried.see(tried.names(mine))
    mine.dataset.serial = "changed again"
    assert [r.source for r in tried.taken(mine, schema).rules] == ["data"]
    assert not remembered(mine.dataset.ledger, "rules"), "the name alone is kept on a server for one person"


@pytest.mark.parametrize("served", [False, True], ids=["for one person", "shared"])
def test_a_further_rule_of_a_refit_is_marked_after_a_look_although_another_table_is_loaded(app, monkeypatch, served):
    monkeypatch.setattr(tried, "shared", lambda: served)
    uploaded(app, name="people.csv", raw=PEOPLE)
    space = space_of(app)
    space.schema = confirm(space.schema, everything=True)
    at_page(app, "synthesize")
    app.selectbox(key="method").select("independent").run()
    app.button(key="synthesize").click().run()
    paid = ended(jobs().of(space.owner)[0])
    assert Manifest.load(paid.folder / MANIFEST).private
    tried.see(tried.names(space))
    at_page(app, "data")
    uploaded(app, name="other.csv", raw=PEOPLE.replace(b"a,b,c", b"d,e,f"))
    at_page(app, "export")
    app.toggle(key="export_refits").set_value(True).run()
    app.segmented_control(key="export_refit_rule_kind").set_value("order").run()
    app.selectbox(key="export_refit_rule_lower").select("a").run()
    app.selectbox(key="export_refit_rule_upper").select("b").run()
    app.button(key="export_refit_rule_add").click().run()
    app.button(key="export_refit_start").click().run()
    made = ended(jobs().of(space_of(app).owner)[0])
    assert made.id != paid.id and made.state == "done", made.failure()
    assert not Manifest.load(made.folder / MANIFEST).private


def test_a_rule_that_is_declared_about_no_loaded_table_does_not_say_where_it_comes_from():
    assert tried.marked((), [RULE, RULE | {"source": "data"}]) == [RULE, RULE | {"source": "data"}]


def test_rules_of_a_linked_schema_file_are_marked_after_a_look_wherever_it_was(app):
    with_files(app, patients=PATIENTS, visits=VISITS)
    got = linked(app)
    document = got.schema().document()
    document["links"][0]["rules"] = [{"kind": "impossible", "where": "ward = A and patients.sex = f"}]
    document["tables"][1]["schema"]["rules"] = [{"kind": "impossible", "where": "ward = A and nr = 1"}]
    raw = json.dumps(document).encode()

    def sources():
        got.adopt(tried.taken_linked(got, LinkedSchema.loads(raw)))
        return [rule.source for rule in got.schema().rules]

    assert sources() == ["public", "public"]
    remember_rules(got.schema())
    assert sources() == ["data", "data"] and got.schema().reasons
    (own,) = got.parts["visits"].schema.rules
    assert own.source == "data" and tried.source(tried.names(got.parts["visits"])) == "data"
    with_sample(app)
    assert tried.of_linked(linked(app)) == ()


def test_looks_at_samples_are_not_kept(app):
    with_sample(app)
    limits.look(linked(app), ["persons"])
    loading.sample(space_of(app))
    assert not linked(app).seen
    space = Workspace("somebody", dataset=Dataset("sample", "sample", None, sample=True))
    unit.see(space)
    assert not remembered(space.dataset.serial, "unit")


CHANGES = {
    "limit": lambda got: setattr(got.links["visits"], "max_children", 3),
    "order": lambda got: setattr(got.links["visits"], "order", "nr"),
    "distinct": lambda got: setattr(got.links["visits"], "distinct", True),
    "role": lambda got: setattr(got.links["visits"], "role", "ward"),
    "single": lambda got: setattr(got.links["visits"], "single", ("A",)),
    "key of the child": lambda got: setattr(got.links["visits"], "key", "nr"),
    "own key": lambda got: got.keys.update(visits="nr"),
    "parent": lambda got: setattr(got.links["visits"], "parent", "visits"),
    "root": lambda got: setattr(got, "root", "visits"),
}


def test_whatever_is_changed_of_links_after_a_look_is_marked_also_when_the_same_files_are_loaded_again(app):
    with_files(app, patients=PATIENTS, visits=VISITS)
    linked(app).decided = True
    for name, change in CHANGES.items():
        got = linked(app)
        before = got.structure()
        change(got)
        assert got.unit_source == "public" and got.structure() != before, name
        _loaded(app, got)
    got = linked(app)
    limits.look(got, ["visits"])
    assert got.unit_source == "public", "it was declared before the look"
    for name, change in CHANGES.items():
        _loaded(app, linked(app))
        got = linked(app)
        assert got.unit_source == "public" and not got.looked, name
        change(got)
        assert got.unit_source == "data", name
        limits.confirm(got)
        assert got.unit_source == "public", name


def test_links_of_tables_of_which_one_row_is_new_are_marked_after_a_look_at_the_earlier_ones(app):
    with_files(app, patients=PATIENTS, visits=VISITS)
    limits.look(linked(app), ["visits"])
    seen = linked(app).serial
    with_files(app, patients=PATIENTS, visits=VISITS + VISITS.splitlines(keepends=True)[-1])
    got = linked(app)
    got.decided = True
    assert got.serial != seen and got.unit_source == "public", "headers alone proposed what stands now"
    got.links["visits"].max_children = 3
    assert got.unit_source == "data"


def _loaded(app, got):
    """Loads the same files again; who is one individual is said anew."""
    loading.tables(space_of(app), _again(got))
    linked(app).decided = True


def _again(got):
    """The files of linked tables as a reader hands them over."""

    class Reading:
        notices, odd = (), ()

        def __init__(self, part):
            self.part = part

        def whole(self):
            return self.part.dataset.table

    return [(f"{name}.csv", Reading(part), part.schema) for name, part in got.parts.items()]


def test_an_order_that_is_chosen_after_a_look_stands_in_the_schema_of_the_run(app):
    with_files(app, patients=PATIENTS, visits=VISITS)
    linked(app).decided = True
    at_page(app, "schema")
    next(b for b in app.button if b.key.startswith("linked_look_button")).click().run()
    assert linked(app).schema().unit.source == "public"
    field(app, "selectbox", "order").set_value("nr").run()
    assert linked(app).schema().unit.source == "data" and "class='dp-stamp'" in words(app)
    app.button(key="linked_known").click().run()
    assert linked(app).schema().unit.source == "public"


def test_a_limit_that_is_chosen_after_the_report_drew_numbers_of_children_is_marked(app):
    with_files(app, patients=PATIENTS, visits=VISITS)
    got = linked(app)
    got.decided = True
    for part in got.parts.values():
        part.schema = confirm(part.schema, everything=True)
    assert ended(start(space_of(app))).state == "done"
    at_page(app, "report")
    assert got.schema().unit.source == "public", "it was declared before the look"
    got.links["visits"].max_children = 3
    assert got.schema().unit.source == "data"


def test_a_rule_that_is_declared_after_the_report_was_taken_away_is_marked(app):
    uploaded(app, name="people.csv", raw=PEOPLE)
    space = space_of(app)
    space.schema = confirm(space.schema, everything=True)
    assert ended(start(space)).state == "done"
    at_page(app, "export")
    assert not tried.seen(tried.names(space))
    app.checkbox(key="export_private").check().run()
    at_page(app, "schema")
    declare(app)
    assert [r.source for r in space.schema.rules] == ["data"]


def test_columns_of_a_panel_that_are_chosen_after_a_look_are_marked(app):
    with_panel(app)
    got = linked(app)
    got.panel.person, got.panel.wave, got.decided = "person", "year", True
    limits.look(got, [got.root])
    assert got.schema().unit.source == "public"
    got.panel.constant = ("sex",)
    assert got.schema().unit.source == "data"


def test_a_run_of_linked_tables_hands_on_the_word_for_a_query(app):
    with_files(app, patients=PATIENTS, visits=VISITS)
    assert not spec_of(space_of(app)).query_vouched
    linked(app).parts["visits"].dataset.query_vouched = True
    assert spec_of(space_of(app)).query_vouched
