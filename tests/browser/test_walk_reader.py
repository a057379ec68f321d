"""The Release page in a fresh visit: a right bundle from Export is proved, asked, and still there after a reload."""

import pytest

from ui.shared.text import catalogue

pytestmark = pytest.mark.browser


def test_a_bundle_from_export_is_read_by_somebody_who_has_nothing_else(finished, another):
    finished.open("export")
    bundle = finished.download("Download the whole release")
    reader, t = another().open("release"), catalogue()
    assert t["reader.upload_note"] in reader.words()
    reader.upload("bundle.zip", bundle)
    reader.page.get_by_text(t["reader.proved"]).wait_for()
    reader.choose(t["questions.kind"], t["questions.kind_mean"])
    assert t["figure.asked_estimate"] in reader.words() and "synthetic table" in reader.words()
    reader.choose(t["questions.kind"], t["questions.kind_range"])
    assert t["reader.empty_range"] in reader.words()
    reader.page.reload()
    reader.settle()
    assert t["reader.proved"] in reader.words(), "the files are kept over a reload"
