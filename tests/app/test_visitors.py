"""Who a visitor without a login is: a token that this server issued, never one that somebody chose."""

import secrets
import stat
from types import SimpleNamespace

import pytest

from dpsyn_core.errors import OutputError
from ui.shared import state, visitors


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("DPSYN_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def visit(monkeypatch, cookie):
    """Who the app takes a visitor to be whose browser sends this cookie, and the script that it answers with."""
    sent = []
    browser = SimpleNamespace(cookies={} if cookie is None else {state.COOKIE: cookie})
    monkeypatch.setattr(
        state, "st",
        SimpleNamespace(session_state={}, user={}, context=browser, html=lambda text, **_: sent.append(text)),
    )  # fmt: skip
    state.remember_visitor()
    return state.owner(), "".join(sent)


def test_a_token_that_a_visitor_chose_is_not_adopted(home, monkeypatch):
    token = secrets.token_hex(32)
    for chosen in (token, "0" * 64, "0" * 128, token + token, "é" * 128, "", None):
        owner, script = visit(monkeypatch, chosen)
        assert owner != chosen and owner in script, "a new token takes the place of the chosen one"


def test_a_token_that_was_issued_is_found_again_after_a_restart_and_a_changed_one_is_not(home, monkeypatch):
    mine, script = visit(monkeypatch, None)
    assert "SameSite=Strict" in script and "Secure" in script and "expires" not in script
    assert visit(monkeypatch, mine) == (mine, "")
    other = mine[:-1] + ("0" if mine[-1] != "0" else "1")
    assert visit(monkeypatch, other)[0] not in (mine, other)
    (home / visitors.KEY).unlink()
    assert visit(monkeypatch, mine)[0] != mine


def test_the_key_is_the_operators_alone_and_the_first_of_two_stays(home):
    key = visitors._key(home / visitors.KEY)
    assert len(key) == 32 and visitors._key(home / visitors.KEY) == key
    assert [p.name for p in home.iterdir()] == [visitors.KEY]
    assert stat.S_IMODE((home / visitors.KEY).stat().st_mode) & 0o077 == 0


def test_a_folder_that_cannot_be_written_is_one_sentence(home):
    home.write_text("a file where the folder should be")
    with pytest.raises(OutputError, match="set DPSYN_HOME"):
        visitors.issue()
