"""Login through OpenID Connect, end to end: a provider on loopback, the app, and two people in real browsers."""

import http.client
import re
import time
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


def changed(**claims):
    """A token with these claims; None takes a claim away."""
    return lambda given: {k: v for k, v in {**given, **claims}.items() if v is not None}


def told(provider, name, value):
    """Sets something of the provider for one login, and gives what puts it back."""
    before = getattr(provider, name)
    setattr(provider, name, value)
    return lambda: setattr(provider, name, before)


def test_a_login_that_fails_leaves_the_door_shut(person, provider):
    visitor, now = person(), int(time.time())
    log_in(visitor, "mallory")  # whom the provider does not know
    assert closed(visitor)
    for change in (
        {"iss": "http://127.0.0.1:1"},
        {"aud": "another"},
        {"aud": ["another", CLIENT]},  # for several, and none of them is named as the one who asked
        {"aud": [CLIENT, "another"], "azp": "another"},
        {"exp": 1},
        {"exp": None},
        {"iat": now - 13 * 3600},  # a login of yesterday that the provider still vouches for
        {"iat": None},
        {"nonce": "of another login"},
        {"nonce": None},
        {"sub": None},
        {"sub": ""},
        {"sub": 7},
    ):
        provider.forge = changed(**change)
        try:
            log_in(visitor, "anna")
        finally:
            provider.forge = None
        assert closed(visitor.open()), change


def test_a_token_that_the_providers_keys_did_not_sign_leaves_the_door_shut(person, provider):
    visitor, key, kid = person(), provider.key, provider.kid
    everything = told(provider, "signing", ["RS256", "ES256", "HS256"])
    try:
        for head in (
            {"alg": "none"},
            {"alg": "none", "kid": None},
            {"alg": "HS256"},
            {"kid": "unknown"},
            {"alg": "ES256"},
        ):
            back = told(provider, "head", head)
            log_in(visitor, "anna")
            back()
            assert closed(visitor.open()), head
        provider.new_key(kid, publish=False)  # a key of the same name that the provider does not publish
        log_in(visitor, "anna")
        assert closed(visitor.open())
    finally:
        everything()
        provider.key, provider.kid = key, kid


def test_a_login_holds_with_new_keys_several_keys_another_algorithm_and_a_clock_that_is_ahead(person, provider):
    signing, key, kid = told(provider, "signing", ["RS256", "ES256"]), provider.key, provider.kid
    steps = [lambda: provider.new_key("two"), lambda: provider.new_key("three", curve=True)]
    steps += [
        lambda claims=claims: setattr(provider, "forge", changed(**claims))
        for claims in (
            {"aud": [CLIENT]},
            {"aud": [CLIENT, "another"], "azp": CLIENT},
            {"iat": int(time.time()) + 60},
            {"email_verified": False, "email": "ben@example.org"},  # an address is nobody's name here
        )
    ]
    try:
        for step in steps:
            step()
            visitor = log_in(person(), "anna")
            assert not closed(visitor)
    finally:
        provider.forge, provider.key, provider.kid = None, key, kid
        signing()
    cookies = [c for c in visitor.context.cookies() if c["name"].startswith("_streamlit_user")]
    assert cookies and all(c["httpOnly"] and c["sameSite"] == "Lax" for c in cookies)


def test_nobody_is_logged_in_by_a_link_that_another_made(person, provider):
    """The end of a login belongs to the browser that began it; else a victim would upload into another's workspace."""
    mallory, victim, ends = person(), person(), []
    back = told(provider, "held", ends)
    mallory.page.get_by_role("button", name="Log in", exact=True).click()
    field = mallory.page.get_by_role("textbox", name="Name")
    field.fill("ben")
    field.press("Enter")
    mallory.page.get_by_text("held").wait_for()
    back()
    victim.page.goto(ends[0])
    assert closed(victim.open())


def test_nobody_without_a_login_is_told_sizes_of_uploads_or_joins_from_another_page(person, guarded):
    anna = person()
    log_in(anna, "anna")
    anna.pick("Upload").upload("annas-own.csv", b"town,age\nMoss,30\nHamar,40\n")
    for query in ("", "?families=cache_memory_bytes", "?families=active_sessions"):
        told = urllib.request.urlopen(f"{guarded.url}/_stcore/metrics{query}").read().decode()
        assert not re.search(r"\d", told), told
    asked = http.client.HTTPConnection("127.0.0.1", guarded.port)
    upgrade = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13"}
    key = {"Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==", "Origin": "https://evil.example"}
    asked.request("GET", "/_stcore/stream", headers=upgrade | key)
    assert asked.getresponse().status == 403
    config = urllib.request.urlopen(f"{guarded.url}/_stcore/host-config").read().decode()
    assert '"allowedOrigins":[]' in config.replace(" ", "")


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
    for private in ("anna", "subject-1", SECRET, "annas-own", "Moss", "id_token", "eyJ"):
        assert private not in log
