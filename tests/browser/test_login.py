"""Login through OpenID Connect, end to end: a provider on loopback, the app, and two people in real browsers."""

import re
import urllib.error
import urllib.request

import pytest

from tests.browser.conftest import Server, Visitor, free_port
from tests.browser.provider import CLIENT, SECRET, Provider

pytestmark = pytest.mark.browser
DOOR = "This server asks who you are before it shows anything."


@pytest.fixture(scope="module")
def provider():
    made = Provider({"anna": "subject-1", "ben": "subject-2"})
    yield made
    made.stop()


@pytest.fixture(scope="module")
def guarded(tmp_path_factory, provider):
    """A server with a login; nothing of it is known before one."""
    home, port = tmp_path_factory.mktemp("guarded"), free_port()
    secret = home / "secrets.toml"
    secret.write_text(
        f"""[auth]
redirect_uri = "http://127.0.0.1:{port}/oauth2callback"
cookie_secret = "a text that is long enough for a test"
client_id = "{CLIENT}"
client_secret = "{SECRET}"
server_metadata_url = "{provider.url}/.well-known/openid-configuration"
"""
    )
    made = Server(home, port, "--secrets.files", str(secret))
    yield made
    made.stop()


@pytest.fixture
def person(chromium, guarded, provider):
    """Makes visitors who may be sent to the provider and to no other place."""
    made = []

    def make():
        made.append(Visitor(chromium, guarded, friends=(provider.url,)))
        return made[-1].open()

    yield make
    for one in made:
        one.close()


def log_in(visitor, name):
    visitor.page.get_by_role("button", name="Log in", exact=True).click()
    field = visitor.page.get_by_role("textbox", name="Name")
    field.fill(name)
    field.press("Enter")
    visitor.page.wait_for_url(f"{visitor.server.url}/**")
    return visitor.settle()


def closed(visitor):
    """Whether the visitor stands at the door, and sees nothing behind it."""
    words = visitor.words()
    return DOOR in words and not re.search("Epsilon spent|Synthesize|Simulated|Ledger", words)


def test_a_visitor_without_a_login_sees_the_door_on_every_page(person, guarded):
    visitor = person()
    for page in ("", "schema", "privacy", "synthesize", "report", "export", "learn", "report?run=x"):
        visitor.open(page)
        assert closed(visitor), page
    for path in ("media/x.csv", "static/../secrets.toml", "_stcore/upload_file/x/y"):
        try:
            body = urllib.request.urlopen(f"{guarded.url}/{path}").read()
        except urllib.error.HTTPError:
            continue
        assert b"<title>Streamlit</title>" in body, path  # the empty shell of every page
    assert not (guarded.home / "ledger.sqlite3").exists()


def test_two_people_see_their_own_table_and_runs_only_and_find_them_again(person, provider):
    anna, ben = person(), person()
    log_in(anna, "anna")
    log_in(ben, "ben")
    assert "/token" in provider.asked and "/keys" in provider.asked
    anna.pick("Upload").upload("annas-own.csv", b"town,age\nMoss,30\nHamar,40\n")
    assert "annas-own" in anna.words()
    anna.pick("Sample").press("Load the sample")
    anna.press("Synthesize")
    anna.page.get_by_role("button", name="Download CSV", exact=True).first.wait_for(timeout=120_000)
    assert "annas-own" not in ben.words()
    ben.go("Synthesize")
    assert ben.page.get_by_role("button", name="Download CSV", exact=True).count() == 0
    ben.go("Report")
    assert "There is no run yet" in ben.words() or "no run" in ben.words().lower()
    # the same person on another machine finds the run; logging out closes the door there and here
    again = person()
    log_in(again, "anna")
    again.go("Synthesize")
    again.page.get_by_role("button", name="Report", exact=True).first.wait_for()
    again.press("Log out")
    assert closed(again.open("synthesize"))
    assert "/logout" in provider.asked
    log_in(again, "ben")
    again.go("Synthesize")
    assert again.page.get_by_role("button", name="Report", exact=True).count() == 0
    assert not closed(anna.open())


def test_a_login_that_fails_leaves_the_door_shut(person, provider):
    visitor = person()
    log_in(visitor, "mallory")  # whom the provider does not know
    assert closed(visitor)
    for change in (
        {"iss": "http://127.0.0.1:1"},
        {"aud": "another"},
        {"exp": 1},
        {"nonce": "of another login"},
    ):
        provider.forge = lambda claims, change=change: {**claims, **change}
        try:
            log_in(visitor.open(), "anna")
        finally:
            provider.forge = None
        assert closed(visitor.open()), change


def test_nobody_borrows_the_servers_files_or_network(person):
    visitor = person()
    log_in(visitor, "anna")
    visitor.pick("File path").type("path on this machine", "/etc/passwd")
    visitor.press("Load the file")
    assert "does not read that folder" in visitor.words()
    visitor.pick("Database").choose("Database", "PostgreSQL")
    visitor.type("file or connection address", "postgresql://127.0.0.1/shop")
    visitor.press("Load the table")
    assert "does not reach that database" in visitor.words()


def test_the_log_names_nobody(guarded):
    log = guarded.log.read_text()
    for private in ("anna", "subject-1", SECRET, "annas-own", "Moss"):
        assert private not in log
