"""Rules that records show: the Schema page lists them for a tick, and the report adds them by one press."""

import time

import pytest

from dpsyn_core.privacy.ledger.ledger import Ledger
from dpsyn_core.privacy.manifest.manifest import Manifest
from dpsyn_core.runs.jobs.folder import MANIFEST, SYNTHETIC
from dpsyn_core.schema.drafts.confirmation import confirm
from dpsyn_core.tables.read import read_table
from tests.app.test_jobs import ended
from tests.app.test_report import finished
from tests.app_driver import at_page, space_of, uploaded, words
from ui.shared.state import jobs

pytestmark = pytest.mark.slow  # an upload is read in a child process

ROWS = [(17 * i % 101, 29 * i % 89) for i in range(600)]
PARTS = b"first,second,whole\n" + b"".join(b"%d,%d,%d\n" % (a, b, a + b) for a, b in ROWS)


def test_a_sum_that_only_the_records_show_is_kept_after_one_press(app):
    uploaded(app, name="parts.csv", raw=PARTS)
    space = space_of(app)
    space.schema = confirm(space.schema, everything=True)
    paid = finished(app)
    before = Ledger().entries(paid.spec.dataset)
    at_page(app, "report")
    app.button(key="overview_rules").click().run()
    assert not app.exception and not app.error
    registry, deadline = jobs(), time.monotonic() + 300
    while any(j.live for j in registry.of(space.owner)):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    made = next(j for j in registry.of(space.owner) if j.id != paid.id)
    assert made.state == "done", made.failure()
    rules = Manifest.load(made.folder / MANIFEST).refit.rules
    assert [r["kind"] for r in rules] == ["sum"] and rules[0]["source"] == "data", "chosen after a look"
    table = read_table(made.folder / SYNTHETIC)
    first, second, whole = (table[n].to_pylist() for n in ("first", "second", "whole"))
    assert all(int(a) + int(b) == int(c) for a, b, c in zip(first, second, whole, strict=True))
    assert Ledger().entries(paid.spec.dataset) == before


STAYS = b"admitted,discharged,ward\n" + b"".join(
    b"%d,%d,%s\n" % (a := 1990 + 17 * i % 31, a + i % 3 * 9, (b"A", b"B", b"C")[i % 3]) for i in range(600)
)


def test_rules_that_headers_propose_are_marked_where_the_report_offers_them_because_real_records_keep_them(app):
    uploaded(app, name="stays.csv", raw=STAYS)
    space = space_of(app)
    space.schema = confirm(space.schema, everything=True)
    paid = finished(app)
    at_page(app, "report")
    app.button(key="overview_rules").click().run()
    assert not app.exception and not app.error
    made = ended(next(j for j in jobs().of(space.owner) if j.id != paid.id))
    manifest = Manifest.load(made.folder / MANIFEST)
    assert [r["source"] for r in manifest.refit.rules] == ["data"], "chosen after a look"
    assert not manifest.private


def test_the_schema_page_lists_what_every_record_keeps_and_a_tick_waits_for_a_persons_word(app):
    uploaded(app, name="parts.csv", raw=PARTS)
    space = space_of(app)
    space.schema = confirm(space.schema, everything=True)
    at_page(app, "schema")
    app.button(key="rule_look").click().run()
    assert not app.exception and "Every record keeps these" in words(app)
    (box,) = (b for b in app.checkbox if "whole = first + second" in b.label)
    box.check().run()
    assert not app.exception and not app.error
    assert [(str(r), r.source) for r in space.schema.rules] == [("whole = first + second", "data")]
    assert not space.schema.private
    app.toggle(key="safe").set_value(True).run()
    assert "Every record keeps these" not in words(app) and not app.exception
    app.toggle(key="safe").set_value(False).run()
    app.button(key="rule_known").click().run()
    assert [r.source for r in space.schema.rules] == ["public"] and space.schema.private
