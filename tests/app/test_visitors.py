"""Who a visitor without a login is: a token that this server issued, never one that somebody chose."""

import secrets
import stat
import threading
import time
from types import SimpleNamespace

import pytest

from dpsyn_core.errors import OutputError
from ui.shared import access, state, visitors
from ui.shared.text import catalogue


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


@pytest.fixture
def secret(tmp_path, monkeypatch):
    """The path of a file of secrets that a server looks for, which is not there yet."""
    from streamlit import config
    from streamlit.runtime.secrets import secrets_singleton

    path = tmp_path / "secrets.toml"
    before = config.get_option("secrets.files")
    config._set_option("secrets.files", [str(path)], config.ConfigOption.DEFAULT_DEFINITION)
    monkeypatch.setattr(access, "_REQUIRED", threading.Event())
    secrets_singleton._reset()
    yield path
    config._set_option("secrets.files", before, config.ConfigOption.DEFAULT_DEFINITION)
    secrets_singleton._reset()


def test_secrets_that_cannot_be_read_keep_the_door_shut(app, secret):
    secret.write_text('[auth]\nclient_id = "dpsyn"\ncookie_secret = "no end\n')
    app.run()
    assert [e.value for e in app.error] == [catalogue()["access.damaged"]]
    assert not app.button and not app.dataframe and not app.sidebar.children


def test_a_file_of_secrets_that_was_named_and_is_not_there_keeps_the_door_shut(app, secret):
    from streamlit import config

    config._set_option("secrets.files", [str(secret)], "command-line argument or environment variable")
    app.run()
    assert [e.value for e in app.error] == [catalogue()["access.damaged"]]


def test_a_login_that_was_asked_for_once_is_asked_for_until_the_server_starts_anew(secret):
    from streamlit.runtime.secrets import secrets_singleton

    assert not access.configured()
    secret.write_text('[auth]\nclient_id = "dpsyn"\n')
    assert access.configured() and not access.damaged()
    for edit in (lambda: secret.write_text("[auth\n"), lambda: secret.write_text(""), secret.unlink):
        edit()
        secrets_singleton._reset()
        assert access.configured() and access.shared()


GOOD = {
    "cookie_secret": "a text that is long enough for a test",
    "redirect_uri": "https://dpsyn.example.org/oauth2callback",
    "server_metadata_url": "https://login.example.org/.well-known/openid-configuration",
}


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"cookie_secret": "a long random text"}, "access.weak_secret"),
        ({"cookie_secret": ""}, "access.weak_secret"),
        ({"redirect_uri": "http://dpsyn.example.org/oauth2callback"}, "access.plain"),
        ({"server_metadata_url": "http://login.example.org/.well-known/openid-configuration"}, "access.plain"),
        ({"server_metadata_url": "http://127.0.0.1.evil.example/"}, "access.plain"),
    ],
)
def test_a_login_that_others_could_forge_or_read_lets_nobody_in(app, secret, change, why):
    secret.write_text("[auth]\n" + "".join(f'{k} = "{v}"\n' for k, v in {**GOOD, **change}.items()))
    app.run()
    assert [e.value for e in app.error] == [catalogue()[why]]
    assert not app.button and not app.dataframe and not app.sidebar.children


def test_a_login_through_https_or_on_this_machine_has_no_flaw(secret):
    from streamlit.runtime.secrets import secrets_singleton

    for address in (GOOD["redirect_uri"], "http://localhost:8501/oauth2callback", "http://127.0.0.1:1/oauth2callback"):
        secrets_singleton._reset()
        secret.write_text("[auth]\n" + "".join(f'{k} = "{v}"\n' for k, v in {**GOOD, "redirect_uri": address}.items()))
        assert access.flaw() is None


def test_two_people_of_two_issuers_never_share_a_workspace_and_an_old_login_is_none(home, monkeypatch):
    def who(**claims):
        user = {"is_logged_in": True, "iat": time.time(), **claims}
        monkeypatch.setattr(
            state, "st", SimpleNamespace(session_state={}, user=user, context=SimpleNamespace(cookies={}))
        )
        return state.owner(), access.known(user)

    one, other = who(iss="https://a", sub="8443:x")[0], who(iss="https://a:8443", sub="x")[0]
    assert one != other and one.startswith("login:") and who(iss="https://a", sub="8443:x")[0] == one
    for claims in (
        {"sub": ""},
        {"sub": 7},
        {"iat": time.time() - access.LASTING - 1},
        {"iat": "now"},
        {"is_logged_in": False},
    ):
        owner, known = who(**{"iss": "https://a", "sub": "x", **claims})
        assert not known and not owner.startswith("login:"), claims


def test_the_key_is_the_operators_alone_and_the_first_of_two_stays(home):
    key = visitors._key(home / visitors.KEY)
    assert len(key) == 32 and visitors._key(home / visitors.KEY) == key
    assert [p.name for p in home.iterdir()] == [visitors.KEY]
    assert stat.S_IMODE((home / visitors.KEY).stat().st_mode) & 0o077 == 0


def test_a_folder_that_cannot_be_written_is_one_sentence(home):
    home.write_text("a file where the folder should be")
    with pytest.raises(OutputError, match="set DPSYN_HOME"):
        visitors.issue()
