"""A finding in words: one clause with the figures of both tables, from the catalogue of a language."""

from __future__ import annotations

import math
from typing import Any

from dpsyn_core.evaluate import Example, Finding
from dpsyn_core.report.amounts import amount, fine, instant, percent, told_apart
from dpsyn_core.report.translation import sentence
from dpsyn_core.report.wording import Words, dated, local

# kinds whose sentence is one of the verdict's own
OF_VERDICT = {
    "pair": "verdict_pair", "ratio": "verdict_ratio", "v": "verdict_v", "mean": "verdict_mean", "date": "verdict_date",
    "day": "verdict_day", "blank": "verdict_blank", "fixed": "verdict_fixed", "fixed_more": "verdict_fixed_more",
    "more_variance": "finding_group_variance", "all_same": "verdict_same",
    "share": "verdict_share", "group": "verdict_group",
}  # fmt: skip
AMOUNTS = ("mean", "group", "rest", "high", "top", "bottom")
CORRELATIONS = ("pair", "pair_within", "ratio", "v", "before", "turned", "weaker", "pay_gap")
COUNTS = ("few_records", "fixed", "fixed_more", "lacking", "unreadable", "further", "coarser")
MOST_NAMES = 5  # columns that a sentence names


def finding_words(f: Finding, words: Words, *, examples: bool = True) -> str:
    """The clause of a finding, with examples where it has some and they are asked for."""
    text = _clause(f, words).format(**_values(f, words))
    if not f.examples or not examples:
        return text
    shown = "; ".join(", ".join(example_words(x, words)) for x in f.examples)
    return f"{text} ({words['finding_examples'].format(examples=shown)})"


def first_words(f: Finding, words: Words, *, examples: bool = True) -> str:
    """The clause as a full sentence: with a capital where it does not begin with a name."""
    text = finding_words(f, words, examples=examples)
    named = _clause(f, words).startswith("{")
    return f"{text if named else text[0].upper() + text[1:]}."


def _clause(f: Finding, words: Words) -> str:
    """The clause with gaps for its values."""
    key = "before_of_each" if f.key == "before" and len(f.columns) > len(("number", "date")) else f.key
    return words[OF_VERDICT.get(key, f"finding_{key}")]


def example_words(example: Example, words: Words) -> list[str]:
    """An example as the language writes numbers and dates."""
    return [f"{name} = {local(value, words) if number else dated(value, words)}" for name, value, number in example]


def remedy_words(f: Finding, words: Words) -> str:
    """The remedy of a finding; empty where it has none."""
    return words[f"remedy_{f.remedy}"] if f.remedy else ""


def _values(f: Finding, words: Words) -> dict[str, Any]:
    """What a sentence may name, each number as the language writes it."""
    a, b, c = (*f.columns, "", "", "")[:3]
    more = len(f.columns) - MOST_NAMES
    further = f" {words['finding_names_more'].format(count=more)}" if more > 0 else ""
    real, synthetic, fresh = (_figure(f, x, words) for x in (f.real, f.synthetic, f.fresh))
    if f.key in AMOUNTS and f.real is not None and f.synthetic is not None:
        real, synthetic = (local(x, words) for x in told_apart(f.real, f.synthetic, a))
    out = {
        "a": a, "b": b, "c": c, "column": a, "category": f.columns[-1] if f.columns else "",
        "columns": ", ".join(f.columns[:MOST_NAMES]) + further,
        "count": len(f.columns), "real": real, "synthetic": synthetic, "fresh": fresh,
        "parts": " + ".join(f.what.get("parts", ())),
    }  # fmt: skip
    out |= {k: _other(k, v, f, words) for k, v in f.what.items() if k not in ("parts", "grade", "declare", "another")}
    if f.key in ("turned", "weaker"):
        value = str(f.what.get("value", ""))
        out["term"] = f"{b} = {value}" if value else b
    if f.key == "rows":
        out["count"] = f.what["columns"]
    if f.key == "few_records":
        out["share"] = local(percent(float(f.what["of_a_share"])), words)
    return out


def _figure(f: Finding, x: float | None, words: Words) -> str:
    if x is None or math.isnan(x):
        return "–"
    if f.key == "date":
        text = instant(x, precise=bool(f.what["precise"])).replace("T", " ")
        return dated(text, words)
    if f.key in CORRELATIONS:
        return local(fine(x), words)
    if f.key in COUNTS:
        return local(f"{x:,.0f}", words)
    return local(amount(x, of=f.columns[0]) if f.key in AMOUNTS else percent(x), words)


def _other(name: str, x: Any, f: Finding, words: Words) -> str:
    """A further value of a sentence."""
    if name == "rule":
        return sentence(str(x), words)
    if name == "day":
        return words["day_" + str(x).replace("-", "_")]
    if name in ("low", "high") and f.key in CORRELATIONS:
        return local(fine(float(x)), words)
    if name == "deviations":
        return local(f"{float(x):.1f}", words)
    if name == "near":
        return local(percent(float(x), 0), words)
    if name in ("low", "high") and isinstance(x, str):  # dates
        return dated(x, words)
    if isinstance(x, bool | str):
        return local(str(x), words) if f.what.get("decimal") and name == "value" else str(x)
    if isinstance(x, int):
        return local(f"{x:,}", words)
    column = f.columns[0] if f.columns else ""
    return local(amount(float(x), 6 if name == "value" and f.key == "one_bin" else 3, of=column), words)
