"""What a lecturer presses below a lab: full screen for the projector, and links with every control as it stands."""

import html
import json

import streamlit as st

from ui.shared.text import ASSETS, t

PIN = "pin"  # in the link of a lecturer: the lab alone, without the list of the others


def buttons(*, pins: bool) -> None:
    """Full screen; copy the link; and, where `pins`, one that shows this lab alone."""
    full = (
        f"<button type='button' class='dp-copy dp-full' title='{html.escape(t('learn.link.full_help'), quote=True)}'>"
    )
    out = [f"{full}{html.escape(t('learn.link.full'))}</button>"]
    out += [_button(t("learn.link.copy"), t("learn.link.help"), {})]
    if pins:
        out.append(_button(t("learn.link.pin"), t("learn.link.pin_help"), {PIN: "1"}))
    script = (ASSETS / "share.js").read_text("utf-8")
    st.html(f"<div class='dp-share'>{''.join(out)}</div><script>{script}</script>", unsafe_allow_javascript=True)


def _button(words: str, told: str, more: dict[str, str]) -> str:
    return (
        f"<button type='button' class='dp-copy' title='{html.escape(told, quote=True)}' "
        f"data-done='{html.escape(t('learn.link.copied'), quote=True)}' "
        f"data-more='{html.escape(json.dumps(more), quote=True)}'>{html.escape(words)}</button>"
    )
