"""What a server answers to whoever asks: nothing of a visitor's uploads and downloads."""

from types import SimpleNamespace

import pytest
from streamlit.runtime.media_file_storage import MediaFileKind
from streamlit.runtime.memory_media_file_storage import MemoryMediaFileStorage
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.stats import StatsManager
from streamlit.runtime.uploaded_file_manager import UploadedFileRec

from dpsyn_core.errors import SettingError
from ui.shared import strangers

PLAIN = strangers.media._calculate_file_id  # as Streamlit has it: this is read before any test runs


@pytest.fixture
def server(monkeypatch):
    """A server's counts of memory, with an upload of 26 bytes."""
    monkeypatch.setattr(strangers.media, "_calculate_file_id", PLAIN)
    manager, uploads = StatsManager(), MemoryUploadedFileManager("/upload")
    manager.register_provider(uploads)
    uploads.add_file(
        "a", UploadedFileRec(file_id="1", name="t.csv", type="text/csv", data=b"town,age\nMoss,30\nHamar,40\n")
    )
    monkeypatch.setattr(strangers.runtime, "exists", lambda: True)
    monkeypatch.setattr(strangers.runtime, "get_instance", lambda: SimpleNamespace(stats_mgr=manager))
    return manager


def named(content, name="schema.NOT-PRIVATE.json"):
    storage = MemoryMediaFileStorage("/media")
    return storage.load_and_get_id(content, "application/json", MediaFileKind.DOWNLOADABLE, name)


def test_the_bytes_of_uploads_are_told_to_nobody(server):
    assert server.get_stats()["cache_memory_bytes"][0].byte_length == 26
    strangers.close()
    strangers.close()
    assert server.get_stats() == server.get_stats(family_names=["cache_memory_bytes"]) == {}


def test_the_name_of_a_download_cannot_be_computed_from_what_is_in_it(server, monkeypatch):
    plain = named(b"{}")
    strangers.close()
    visited_by(monkeypatch, "anna")
    mine = named(b"{}")
    assert mine != plain and mine == named(b"{}") and mine != named(b"{}", "other.json") and len(mine) == 64
    monkeypatch.setattr(strangers, "_KEY", bytes(32))
    assert named(b"{}") != mine


def test_whoever_makes_the_same_download_does_not_learn_its_name(server, monkeypatch):
    """Else a guess can be tested: the name answers, after its maker's session has ended, as long as it is another's."""
    strangers.close()
    visited_by(monkeypatch, "anna")
    mine = named(b"{}")
    visited_by(monkeypatch, "bob")
    assert named(b"{}") != mine
    monkeypatch.setattr(strangers, "get_script_run_ctx", lambda **_: None)  # made on a press, outside of a page
    assert named(b"{}") != named(b"{}")


def visited_by(monkeypatch, session):
    monkeypatch.setattr(strangers, "get_script_run_ctx", lambda **_: SimpleNamespace(session_id=session))


def test_two_large_downloads_that_differ_far_from_their_ends_have_two_names(server):
    one, other = bytes(3 << 20), bytearray(3 << 20)
    other[1 << 20] = 1
    assert named(one) == named(bytes(other))  # as Streamlit names them: the second visitor would get the first one's
    strangers.close()
    assert named(one) != named(bytes(other))


def test_a_streamlit_that_cannot_be_closed_serves_no_page(app, monkeypatch):
    monkeypatch.delattr(strangers.media, "_calculate_file_id")
    with pytest.raises(SettingError, match="install streamlit"):
        strangers.close()
    app.run()
    assert [e.value for e in app.error if "install streamlit" in e.value] and not app.button
