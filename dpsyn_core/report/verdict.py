"""The verdict in words, and as JSON: one sentence on what is kept, one on what is not right."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from dpsyn_core.evaluate import Between, Comparison, Finding, TableUses, Verdict, released_findings, verdict
from dpsyn_core.privacy import Manifest
from dpsyn_core.report.amounts import instant, percent
from dpsyn_core.report.finding_words import example_words, finding_words, first_words, remedy_words
from dpsyn_core.report.wording import ENGLISH, Words, local

WHOLE = "relations"  # the finding on all relations together
LEFT_OUT = "ignored"  # what the schema leaves out, which is no change
MOST = 12  # findings that are listed
NAMED = 3  # changes that a sentence names: the list of findings has all, and nobody reads a paragraph of them
MOST_BAD = 3  # uses that the sentence names as bad
APART = ("bins", "shares")  # grades of tables whose pairs are worse than unrelated columns


def sentence(found: Verdict, words: Words = ENGLISH, *, epsilon: float | None = None) -> str:
    """What is kept, and what has changed most; numbers are those of the two files."""
    return " ".join(part for part in parts(found, words, epsilon=epsilon) if part)


def parts(found: Verdict, words: Words = ENGLISH, *, epsilon: float | None = None) -> tuple[str, str]:
    """What is kept; and what has changed most, empty where nothing has."""
    texts, first = changes(found, words), _first(found)
    head = words[f"verdict_{_head(found)}"].format(**_values(found, words, epsilon))
    if first is not None:
        helps = words["verdict_remedy"].format(remedy=remedy_words(first, words)) if first.remedy else ""
        head = " ".join(part for part in (first_words(first, words), helps, head) if part)
    more = sum(f.key not in (WHOLE, LEFT_OUT) or f is first for f in found.findings) - (first is not None) - NAMED
    listed = "; ".join(texts[:NAMED]) + (words["verdict_more"].format(count=more) if more > 0 else "")
    moved = words["verdict_moved"].format(list=listed) if texts else ""
    left = [first_words(f, words) for f in found.findings if f.key == LEFT_OUT and f is not first]
    return head, " ".join(part for part in (moved, *left) if part)


def changes(found: Verdict, words: Words = ENGLISH) -> list[str]:
    """The findings after the first one, the gravest first, each in words."""
    first = _first(found)
    listed = [f for f in found.findings if f.key not in (WHOLE, LEFT_OUT) and f is not first]
    return [finding_words(f, words, examples=False) for f in listed[: MOST - bool(first)]]


def _head(found: Verdict) -> str:
    """Which sentence says what is kept: of too few records it names the table that has fewer.

    After records that cannot be it says where these do not show.
    """
    first = _first(found)
    if found.grade == "kept" and first is not None and first.impossible:
        return "kept_impossible"
    return "unclear_made" if found.grade == "unclear" and found.m < found.n else found.grade


def _first(found: Verdict) -> Finding | None:
    """The gravest finding; None where it is that on relations as a whole, which has separate sentences."""
    return found.findings[0] if found.findings and found.findings[0].key != WHOLE else None


def _values(found: Verdict, words: Words, epsilon: float | None) -> dict[str, str]:
    kept = "" if found.relations_kept is None else percent(found.relations_kept, 0)
    pairs = found.pairs
    values = {
        "kept": kept,
        "ones": percent(found.ones.value),
        "ones_floor": percent(found.ones.floor or 0.0),
        "pairs": "" if pairs is None else percent(pairs.score.value),
        "floor": "" if pairs is None else percent(pairs.fresh),
        "unrelated": "" if pairs is None else percent(pairs.unrelated),
        "n": f"{found.n:,}",
        "m": f"{found.m:,}",
    }
    out = {name: local(text, words) for name, text in values.items()}
    at = "" if epsilon is None else words["verdict_at"].format(epsilon=local(f"{epsilon:g}", words), n=out["n"])
    return out | {"at": at}


def alarm(found: Verdict, words: Words = ENGLISH) -> str:
    """That the table is too near to the real one, with what to do; empty where it is not."""
    if found.alarm is None:
        return ""
    helps = words["verdict_remedy"].format(remedy=remedy_words(found.alarm, words))
    return f"{first_words(found.alarm, words)} {helps}"


def released_words(c: Comparison, manifest: Manifest | None, words: Words = ENGLISH) -> str:
    """What the table cannot be read for by released values alone, in short sentences; empty where nothing says so."""
    said = released_sentences(c, manifest, words)
    return words["finding_released_says"].format(list=" ".join(said)) if said else ""


def released_sentences(c: Comparison, manifest: Manifest | None, words: Words = ENGLISH) -> list[str]:
    """What released values alone say that the table cannot be read for, the gravest first."""
    return [first_words(f, words) for f in released_findings(c, manifest)[:MOST]]


def uses_words(found: TableUses, words: Words = ENGLISH) -> str:
    """What the table is good for and what not, in one sentence; with the columns of the finding that says so."""
    good = ", ".join(words[f"use_{use}"] for use in found.good)
    bad = ", ".join(_not_for(use, columns, words) for use, columns in found.bad[:MOST_BAD])
    key = "both" if good and bad else "good" if good else "bad" if bad else "none"
    return words[f"uses_{key}"].format(good=good, bad=bad)


def _not_for(use: str, columns: tuple[str, ...], words: Words) -> str:
    named = " × ".join(columns[:2])
    return words["use_of"].format(use=words[f"use_{use}"], columns=named) if named else words[f"use_{use}"]


def of(c: Comparison) -> Verdict | None:
    """The verdict on a comparison; None where the real table was not given."""
    if c.real is None:
        return None
    return verdict(c)


def words_of_none(found: Verdict) -> str:
    """Why no share of the relations is named where value by value there are none."""
    return ENGLISH[f"verdict_{found.grade}"].format(**_values(found, ENGLISH, None))


def finding_entry(f: Finding) -> dict[str, Any]:
    """A finding as JSON types, with its clause in English."""
    return {
        "key": f.key,
        "sentence": finding_words(f, ENGLISH) if f.key != WHOLE else ENGLISH["finding_relations"],
        "columns": list(f.columns),
        "what": dict(f.what),
        "weight": f.weight,
        "real": f.real,
        "synthetic": f.synthetic,
        "fresh": f.fresh,
        "alarm": f.alarm,
        "examples": [", ".join(example_words(x, ENGLISH)) for x in f.examples],
        "remedy": remedy_words(f, ENGLISH) or None,
    }


def released_entry(c: Comparison, manifest: Manifest | None) -> dict[str, Any]:
    """The findings from released values alone, as JSON types."""
    return {"released_findings": [finding_entry(f) for f in released_findings(c, manifest)]}


def verdict_entry(c: Comparison, epsilon: float | None = None) -> dict[str, Any]:
    """As JSON types: `sentence`, `relations_kept` and `lost`, and what they rest on; nothing without a real table."""
    graded = of(c)
    if graded is None:
        return {}
    return {
        "verdict": {
            "sentence": sentence(graded, epsilon=epsilon),
            "grade": graded.grade,
            "alarm": None if graded.alarm is None else first_words(graded.alarm, ENGLISH),
            "findings": [finding_entry(f) for f in graded.findings],
            "proposed_rules": [asdict(r) for _, r in c.intake.proposed],
            "relations_kept": None if graded.grade in APART else graded.relations_kept,
            "relations_kept_because": graded.why_none or (words_of_none(graded) if graded.grade in APART else None),
            "lost": [
                {
                    "columns": list(x.columns),
                    "measure": x.measure,
                    "real": x.real,
                    "synthetic": x.synthetic,
                    "kept": None if x.kept is None else min(1.0, max(0.0, x.kept)),
                }
                for x in graded.lost
            ],
            "means": [{"column": x.column, "real": x.real, "synthetic": x.synthetic} for x in graded.means],
            "groups": [
                {
                    "column": x.column or None,
                    "category": x.category,
                    "value": x.value,
                    "real": x.real,
                    "synthetic": x.synthetic,
                    "what": "mean" if x.column else "share of records",
                }
                for x in graded.groups
            ],
            "dates": [
                {
                    "column": x.column,
                    "real": instant(x.real, precise=x.precise),
                    "synthetic": instant(x.synthetic, precise=x.precise),
                }
                for x in graded.dates
            ],
            "days": [{"column": x.column, "day": x.day, "real": x.real, "synthetic": x.synthetic} for x in graded.days],
            "blanks": [{"column": x.column, "real": x.real, "synthetic": x.synthetic} for x in graded.blanks],
            "one_value": [x.column for x in graded.fixed],
            "records": {"real": c.n, "synthetic": c.m},
        }
    }


def floors_entry(found: Mapping[str, Between]) -> dict[str, dict[str, float | None]]:
    """The two floors of scores, and the share of the way between them."""
    return {n: {"fresh": b.fresh, "unrelated": b.unrelated, "kept": b.kept} for n, b in found.items()}
