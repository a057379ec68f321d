"""Access: a login through OpenID Connect when the operator has configured one; otherwise everybody at the door."""

from __future__ import annotations

import os

import streamlit as st

from dpsyn_core.jobs.places import confines
from dpsyn_core.tables.confines import Confines
from ui.shared.text import t

CLASSROOM = "DPSYN_CLASSROOM"  # environment variable; 1 serves the labs alone
LOCAL = ("127.0.0.1", "localhost", "::1", "[::1]")


def configured() -> bool:
    """Whether `.streamlit/secrets.toml` has an [auth] section (docs/deploy.md)."""
    return st.secrets.load_if_toml_exists() and "auth" in st.secrets


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
    return not configured() or bool(st.user.get("is_logged_in"))


def require_login() -> None:
    """Stops the page at a login button for a visitor who has not logged in."""
    if admitted():
        return
    st.title(t("access.title"), anchor=False)
    st.write(t("access.lead"))
    if st.button(t("access.login"), type="primary", key="login"):
        st.login()
    st.stop()


def logout_button() -> None:
    """The way out, in the side panel."""
    if configured() and st.button(t("access.logout"), key="logout", type="tertiary"):
        st.logout()
