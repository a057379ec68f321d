"""What a lecturer presses below a lab: full screen for the projector, and links with every control as it stands."""

import html
import json

import streamlit as st

from ui.shared.text import t

PIN = "pin"  # in the link of a lecturer: the lab alone, without the list of the others

# a browser offers its clipboard on secure pages only; elsewhere a field of text is selected and copied; the braces keep
# the names out of the page's own, for the script runs again wherever a lab is drawn
SCRIPT = """{
const put = async text => {
  try { await navigator.clipboard.writeText(text); return; } catch {}
  const field = document.createElement('textarea');
  field.value = text; document.body.append(field); field.select();
  document.execCommand('copy'); field.remove();
};
for (const button of document.querySelectorAll('.dp-copy[data-more]')) button.onclick = async () => {
  const link = new URL(location.href);
  for (const [name, value] of Object.entries(JSON.parse(button.dataset.more))) link.searchParams.set(name, value);
  await put(link.href);
  const words = button.dataset.words ??= button.textContent;
  button.textContent = button.dataset.done;
  setTimeout(() => { button.textContent = words; }, 1800);
};
for (const button of document.querySelectorAll('.dp-full')) button.onclick = () => {
  if (document.fullscreenElement) { document.exitFullscreen(); return; }
  document.body.classList.add('dp-projector');
  document.documentElement.requestFullscreen().catch(() => document.body.classList.remove('dp-projector'));
};
document.onfullscreenchange = () => {
  if (!document.fullscreenElement) document.body.classList.remove('dp-projector');
  window.dispatchEvent(new Event('resize'));  // figures take the new width
};
}"""


def buttons(*, pins: bool) -> None:
    """Full screen; copy the link; and, where `pins`, one that shows this lab alone."""
    full = (
        f"<button type='button' class='dp-copy dp-full' title='{html.escape(t('learn.link.full_help'), quote=True)}'>"
    )
    out = [f"{full}{html.escape(t('learn.link.full'))}</button>"]
    out += [_button(t("learn.link.copy"), t("learn.link.help"), {})]
    if pins:
        out.append(_button(t("learn.link.pin"), t("learn.link.pin_help"), {PIN: "1"}))
    st.html(f"<div class='dp-share'>{''.join(out)}</div><script>{SCRIPT}</script>", unsafe_allow_javascript=True)


def _button(words: str, told: str, more: dict[str, str]) -> str:
    return (
        f"<button type='button' class='dp-copy' title='{html.escape(told, quote=True)}' "
        f"data-done='{html.escape(t('learn.link.copied'), quote=True)}' "
        f"data-more='{html.escape(json.dumps(more), quote=True)}'>{html.escape(words)}</button>"
    )
