"""Words: sentences of the interface, from `assets/text/<language>*.toml`; numbers and errors as people read them."""

import html
import os
import re
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

from dpsyn_core.errors import UNSEEN
from dpsyn_core.report import TEXTS, Words, dated, read_text, translated
from dpsyn_core.report import words as report_words
from dpsyn_core.tables import Notice, notices

ASSETS = Path(__file__).resolve().parents[2] / "assets"
JOINER = "\u2060"  # word joiner: takes no room and is not seen
LANGUAGE = "DPSYN_LANGUAGE"  # environment variable: the language of visitors who choose none
LANGUAGES = {"en": "English", "de": "Deutsch"}  # each has files `assets/text/<language>*.toml`
DECIMAL_COMMA = {"de"}  # languages whose numbers have one, and points between thousands
MARKS = str.maketrans(",.", ".,")
ASKED, CHOSEN = "lang", "language"  # in the link, and in the visitor's session
Value = TypeVar("Value")
_OFFERED: ContextVar[str | None] = ContextVar("offered", default=None)  # of the page that offers a download


@lru_cache(maxsize=4)
def written(language: str) -> dict[str, str]:
    """The entries that a language's own files hold, as {"page.entry": sentence}."""
    words: dict[str, str] = {}
    for part in sorted(TEXTS.glob(f"{language}.*toml")):  # en.toml and, for example, en.learn.toml
        words.update(read_text(part))
    return words


@lru_cache(maxsize=4)
def catalogue(language: str = "en") -> dict[str, str]:
    """All entries of a language; what it does not say is said in English."""
    from dpsyn_core.privacy import certificates as certificate

    formal = {f"certificate.{key}": sentence for key, sentence in certificate.ENGLISH.items()}
    read = {f"notice.{key}": sentence for key, sentence in notices.ENGLISH.items()}
    return formal | read | written("en") | written(language)


def language() -> str:
    """The language of this visitor: chosen in the side panel, asked for by the link, the server's, the browser's."""
    from streamlit.runtime.scriptrunner_utils.script_run_context import get_script_run_ctx

    default = os.environ.get(LANGUAGE)
    if get_script_run_ctx(suppress_warning=True) is None:  # a thread of the server, which has no visitor
        return _OFFERED.get() or default or "en"
    import streamlit as st

    if CHOSEN not in st.session_state:
        browser = str(st.context.locale or "").split("-")[0].lower()
        wanted = (st.query_params.get(ASKED), default, browser, "en")
        st.session_state[CHOSEN] = next(code for code in wanted if code in LANGUAGES)
    return str(st.session_state[CHOSEN])


def later(make: Callable[[], Value]) -> Callable[[], Value]:
    """What makes a download once it is pressed, in the language of the page that offers it.

    Streamlit calls it in a thread that has no visitor, in which nothing of a session may be read or written: what
    such a thread writes there, all visitors share.
    """
    offered = language()

    def made() -> Value:
        before = _OFFERED.set(offered)
        try:
            return make()
        finally:
            _OFFERED.reset(before)

    return made


def t(key: str, **values: object) -> str:
    """The sentence of `key`, with {placeholders} filled. Raises KeyError for a key that has no words."""
    sentence = catalogue(language())[key]
    return sentence.format(**values) if values else sentence


def field(key: str, **values: object) -> dict[str, Any]:
    """Label and help of a field, as Streamlit takes them; the help stands under `<key>_help`."""
    return {"label": t(key, **values), "help": t(f"{key}_help", **values)}


def counted(key: str, count: int, **values: object) -> str:
    """The sentence of `key` about so many things, with {count}; the entry `<key>_one` is for a single one."""
    return t(f"{key}_one" if count == 1 else key, count=number(count), **values)


def said(notice: str) -> str:
    """What a reader says about a table, as a sentence in the visitor's language."""
    words = _said(notice) if isinstance(notice, Notice) else notice
    return words[:1].upper() + words[1:] + ("" if words.endswith(".") else ".")


def usual(notice: str) -> bool:
    """Whether a reader only says how it read a table that is written as many are, which warns of nothing."""
    return isinstance(notice, Notice) and notice.key in ("by_semicolon", "by_tab", "by_pipe", "decimal_comma")


def _said(notice: Notice) -> str:
    values = {k: _said(v) if isinstance(v, Notice) else v for k, v in notice.values.items()}
    return t(f"notice.{notice.key}", **values)


def figure_words() -> Words:
    """The words that figures of the engine are drawn with."""
    return report_words(language())


def answer_words() -> dict[str, str]:
    """The words of answers to questions."""
    from dpsyn_core.questions import ENGLISH as ANSWERS

    return {key: engine(f"answer.{key}", sentence) for key, sentence in ANSWERS.items()}


def engine(key: str, english: str) -> str:
    """What the engine says of one of its parts, such as a system or a metric: translated where there is an entry.

    The entries stand in `assets/text/<language>.engine.toml`; in English the engine's own words hold.
    """
    return written(language()).get(f"engine.{key}", english)


def stage_words(stage: str) -> str:
    """What a run is doing, in the visitor's language."""
    return engine(f"stage.{stage}", stage)


def certificate_words() -> dict[str, str]:
    """The words of a certificate."""
    from dpsyn_core.privacy import certificates as certificate

    return {key: t(f"certificate.{key}") for key in certificate.ENGLISH}


def local(value: float, form: str) -> str:
    """A number in a form of `format`, with the marks of the visitor's language: 1,234.5 is 1.234,5 in German."""
    text = format(value, form)
    return text.translate(MARKS).replace("%", "\u00a0%") if language() in DECIMAL_COMMA else text


def number(value: float) -> str:
    """A number a person can read: 1,234 or 0.0345 or 1.2e-09."""
    if value == int(value) and abs(value) < 1e15:
        return local(int(value), ",")
    size = abs(value)
    if size >= 100:
        return local(value, ",.0f")
    return local(value, ".3g" if size >= 1e-3 else ".1e")


def capital(text: str) -> str:
    """The words as a heading: the first letter large."""
    return text[:1].upper() + text[1:]


def moment(text: str) -> str:
    """Dates and times as people write them: 31.12.2023 in German, no T of the standard, no seconds that are 0."""
    return re.sub(r"(?<=\d)T(\d\d:\d\d)(?::00)?", r" \1", dated(text, figure_words()))


def in_a_row(texts: Sequence[str]) -> str:
    """Values in a row; where one holds a comma, a dot stands between them."""
    return (" · " if any("," in x for x in texts) else ", ").join(texts)


def percent(share: float, digits: int = 1, sign: str = "") -> str:
    """A share as a percentage, with "+" before what is above 0 where sign is that: 3.4% is 3,4 % in German."""
    return local(share, f"{sign}.{digits}%")


def sentence(error: Exception) -> str:
    """An error's message as a sentence, in the visitor's language where that says it."""
    text = translated(str(error).strip().removesuffix("."), language())
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "!", "?")) else ".")


def literal(text: str) -> str:
    """Text that Streamlit shows as it is, for whatever holds a name or value that came from a file.

    Streamlit reads Markdown in messages, headings and labels of widgets: links, images, colours, mathematics, icons.
    A backslash takes the meaning from a mark. Short names of icons (`:smile:`) and addresses are looked for after the
    backslashes are gone; an unseen character inside them keeps them text. What `st.html` shows is escaped by
    `escaped` instead, and figures by the engine's `plain_text`.
    """
    line = " ".join(text.translate(UNSEEN).split())
    line = re.sub(r"[\\`*\[\]<>|~$]|&(?=[#\w])|(?<![^\W_])_|_(?![^\W_])", r"\\\g<0>", line)
    line = re.sub(r"[:@](?=\S)|www(?=\.)", rf"\g<0>{JOINER}", line, flags=re.IGNORECASE)
    return re.sub(r"^(\d{0,9})([-+=#.)])", r"\1\\\2", line)


def escaped(text: str) -> str:
    """Text in HTML that shows as it is: no name in it is markup, or turns the direction of what stands around it."""
    return html.escape(text.translate(UNSEEN))


def amount(value: float) -> str:
    """Epsilon, delta or a weight in a sentence: 1, 0.5, 1e-9, and 0,5 in German."""
    return plain(value).replace(".", ",") if language() in DECIMAL_COMMA else plain(value)


def plain(value: float) -> str:
    """A number as it is typed: 1, 0.5, 1e-9."""
    return repr(int(value)) if value == int(value) and abs(value) < 1e6 else f"{value:.10g}".replace("e-0", "e-")
