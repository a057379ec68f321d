"""Access: a login through OpenID Connect when the operator has configured one; otherwise everybody at the door."""

import os
import threading
import time
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

import streamlit as st
from streamlit.config import is_manually_set

from dpsyn_core.runs import confines
from dpsyn_core.tables import Confines
from ui.shared.text import t

CLASSROOM = "DPSYN_CLASSROOM"  # environment variable; 1 serves the labs alone
LOCAL = ("127.0.0.1", "localhost", "::1", "[::1]")
SECRET = 32  # characters that the secret of the cookie has at least: who guesses it signs a login of anybody
# seconds from a login to the next one: a cookie that was copied, or somebody who left, ends there
LASTING = 12 * 3600.0

_REQUIRED = threading.Event()  # set once this server has had a login, until it is started anew


def configured() -> bool:
    """Whether the operator has configured a login: an [auth] section of the secrets (docs/deploy.md).

    Streamlit takes secrets that it cannot read for secrets that nobody wrote, also after an edit while it runs. Here
    the door stays shut then: it is better that nobody comes in than everybody.
    """
    if damaged() or (st.secrets.load_if_toml_exists() and "auth" in st.secrets):
        _REQUIRED.set()
    return _REQUIRED.is_set()


def damaged() -> bool:
    """Whether there are secrets, or the operator named a file of them, and they cannot be read."""
    if st.secrets.load_if_toml_exists():
        return False
    return is_manually_set("secrets.files") or any(map(os.path.lexists, st.get_option("secrets.files")))


def flaw() -> str | None:
    """Why nobody is let in, in a sentence; None where the login keeps people apart."""
    if damaged():
        return t("access.damaged")
    told = st.secrets.get("auth", {}) if st.secrets.load_if_toml_exists() else {}
    if len(str(told.get("cookie_secret", ""))) < SECRET:
        return t("access.weak_secret")
    places = [urlsplit(str(told.get(name, ""))) for name in ("redirect_uri", "server_metadata_url")]
    plain = any(place.scheme != "https" and place.hostname not in LOCAL for place in places)
    return t("access.plain") if plain else None


def known(user: Mapping[str, Any]) -> bool:
    """Whether these are the claims of somebody who has logged in lately, and has a name at the provider."""
    since, name = user.get("iat"), user.get("sub")
    lately = isinstance(since, int | float) and time.time() - since < LASTING
    return bool(user.get("is_logged_in")) and lately and isinstance(name, str) and bool(name)


def classroom() -> bool:
    """Whether this server is for a class: the labs alone, and nothing that uploads or spends."""
    return os.environ.get(CLASSROOM) == "1"


def shared() -> bool:
    """Whether visitors may come from other machines: by the server's address, through a proxy, or with a login."""
    names = [st.get_option("server.address"), *(st.get_option("server.allowedHosts") or ["*"])]
    return configured() or any(name not in LOCAL for name in names)


def limits() -> Confines | None:
    """What this server reads by path for its visitors; None: it is one person's, who may read what they may."""
    return confines(shared=shared())


def admitted() -> bool:
    """Whether the visitor may see the app: everybody without a login, else who has logged in."""
    return not configured() or (flaw() is None and known(st.user))


def require_login() -> None:
    """Stops the page at a login button for a visitor who has not logged in."""
    if admitted():
        return
    st.title(t("access.title"), anchor=False)
    if (why := flaw()) is not None:
        st.error(why)
        st.stop()
    st.write(t("access.lead"))
    if st.button(t("access.login"), type="primary", key="login"):
        st.login()
    st.stop()


def logout_button() -> None:
    """The way out, in the side panel."""
    if configured() and st.button(t("access.logout"), key="logout", type="tertiary"):
        st.logout()
