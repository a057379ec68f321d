"""More tables of a release with rules, as a person makes them: a condition, a further rule, nothing charged."""

import io

import pandas as pd
import pytest

from dpsyn_core.data import paths
from tests.browser.conftest import DONE, made
from ui.shared.text import catalogue

pytestmark = pytest.mark.browser


def test_a_hospital_with_rules_is_made_again_under_a_condition_and_a_further_rule(visitor):
    table, schema = paths("hospital")
    visitor.open()
    visitor.pick("Upload").upload("hospital.csv.gz", table.read_bytes())
    visitor.go("Schema")
    visitor.page.get_by_role("button", name=catalogue()["schemafile.title"], exact=True).first.click()
    visitor.settle()
    files = visitor.page.locator("input[type=file]").count()
    visitor.upload("hospital.schema.json", schema.read_bytes(), files - 1)
    visitor.page.keyboard.press("Escape")
    visitor.settle()
    assert "Rules that no synthetic record breaks (6)" in visitor.words()
    made(visitor)
    visitor.go("Export")
    visitor.page.locator(".st-key-export_more summary").click()
    release = visitor.download("Save the release for refits")
    visitor.go("Synthesize")
    before = visitor.words().count("done in")
    visitor.page.locator("summary").filter(has_text="More tables from a release").click()
    visitor.settle()
    visitor.upload("hospital.dpsyn", release, visitor.page.locator("input[type=file]").count() - 1)
    visitor.type("Only records where", "ward = Surgery")
    visitor.pick("Impossible")
    visitor.type("No record has all of this", "age in [0, 17] and emergency = yes")
    visitor.press("Add the rule")
    assert "Further rules (1)" in visitor.words()
    visitor.press("Make the table")
    visitor.page.wait_for_function(
        "n => (document.body.innerText.match(/done in/g) || []).length > n", arg=before, timeout=DONE
    )
    visitor.settle()
    assert "runs: 1;" in visitor.words(), "nothing was charged"
    assert "settings changed since" not in visitor.words()
    visitor.page.get_by_role("button", name="Export", exact=True).first.click()
    visitor.settle()
    found = pd.read_csv(io.BytesIO(visitor.download("Download CSV")))
    assert set(found.ward) == {"Surgery"} and (found.admitted <= found.discharged).all()
    assert not ((found.age < 18) & (found.emergency == "yes")).any()
