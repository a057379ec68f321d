"""The document of a report, with its bands.

The JSON of a comparison or a report: what each metric asks, and what each synthetic table scored.

Bands over repeated runs: mean and interval of each metric when the tables differ by their seeds alone.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from dpsyn_core.errors import MetricError
from dpsyn_core.evaluate import (
    ANOTHER_LABEL,
    PRIVATE_LABEL,
    SAFE_LABEL,
    UNKNOWN_LABEL,
    UNPROVED_LABEL,
    UNSAFE_LABEL,
    WORD_LABEL,
    Comparison,
    QueryAnswer,
    Score,
    floors,
    in_words,
    metric_class,
    names,
)
from dpsyn_core.privacy import Manifest
from dpsyn_core.report.models import models_entry
from dpsyn_core.report.profile import columns_entry
from dpsyn_core.report.questions import AskedAnswer
from dpsyn_core.report.verdict import alarm, floors_entry, of, released_entry, released_words, sentence, verdict_entry
from dpsyn_core.report.wording import ENGLISH, Words
from dpsyn_core.runs import PUBLIC_TABLE, Receipt

VERSION = 1
Outcome = Score | MetricError


@dataclass(frozen=True, kw_only=True, slots=True)
class ScoredTable:
    """One synthetic table: scores by metric name, the manifest of its run or None, answers to the reader's queries.

    receipt: the result of checking the table against its manifest; without one nothing is called safe to publish.
    asked: answers to the questions declared for the run.
    """

    name: str
    comparison: Comparison
    scores: Mapping[str, Outcome]
    manifest: Manifest | None = None
    receipt: Receipt | None = None
    answers: Sequence[QueryAnswer] = ()
    asked: Sequence[AskedAnswer] = ()

    @property
    def epsilon(self) -> float | None:
        """Of the run, where its manifest was given."""
        return None if self.manifest is None else self.manifest.epsilon

    @property
    def publishable(self) -> bool:
        """Whether this table may be called safe to publish."""
        return self.receipt is not None and self.receipt.publishable


def table_entry(table: ScoredTable) -> dict[str, Any]:
    """The scores of one table as JSON types; `mean_tvd` repeats the headline of the marginals by order."""
    scores = {n: outcome_entry(s) for n, s in table.scores.items()}
    if table.comparison.real is not None:
        for n, floor in floors_entry(floors(table.comparison, table.scores)).items():
            scores[n]["between"] = floor
    means = {k: scores.get(f"tvd-{k}way", {}).get("value") for k in ("1", "2", "3")}
    return (
        {
            "name": table.name,
            "n_records": table.comparison.whole_m,
            "mean_tvd": {k: v for k, v in means.items() if v is not None},
            "scores": scores,
            "answers": [asdict(a) for a in table.answers],
            "asked": [asked_entry(a) for a in table.asked],
            "receipt": None
            if table.receipt is None
            else {"holds": table.receipt.holds, "says": table.receipt.sentence},
            "manifest": None if table.manifest is None else table.manifest.model_dump(mode="json"),
        }
        | verdict_entry(table.comparison, table.epsilon)
        | released_entry(table.comparison, table.manifest)
        | columns_entry(table.comparison)
        | models_entry(table.comparison)
        | sample_entry(table.comparison)
        | rules_entry(table.comparison)
    )


def sample_entry(c: Comparison) -> dict[str, Any]:
    """The numbers of sampled and of all records behind the scores; empty where all records are used."""
    out = {}
    if c.real is not None and c.real_of is not None:
        out["real"] = {"records": c.n, "of": c.real_of}
    if c.synthetic_of is not None:
        out["synthetic"] = {"records": c.m, "of": c.synthetic_of}
    return {"sample": out} if out else {}


def rules_entry(c: Comparison) -> dict[str, Any]:
    """The rules of the schema with the shares and numbers of records that break them; nothing where it has none."""
    return {"rules": [asdict(r) for r in c.rules]} if c.rules else {}


def rule_lines(c: Comparison) -> list[str]:
    """One line a rule for a terminal."""
    return [
        f"rule {r.rule}: broken by {r.synthetic_records:,} synthetic records ({r.synthetic:.2%})"
        + ("" if r.real is None else f" and {r.real:.2%} of the real ones")
        for r in c.rules
    ]


def asked_entry(found: AskedAnswer) -> dict[str, Any]:
    """A question with its answer from released values; the real answer where the report reads the real table."""
    real = {} if found.real is None else {"real": found.real.plain()["values"]}
    return found.answered.plain() | real


def outcome_entry(outcome: Outcome) -> dict[str, Any]:
    """A score, or the sentence that says why there is none."""
    return {"error": str(outcome)} if isinstance(outcome, MetricError) else outcome.to_json()


def metric_entries(wanted: Sequence[str]) -> dict[str, Any]:
    """What each metric asks and how to read it."""
    names_in = set(names())
    out = {}
    for name in wanted:
        if name in names_in:
            m = metric_class(name)
            out[name] = {
                "title": m.title,
                "question": m.question,
                "goal": m.goal,
                "minimum": m.minimum,
                "maximum": m.maximum,
                "unit": m.unit,
                "reads_private": m.reads_private,
                "label": m.label(),
            }
    return out


def comparison_document(schema_name: str, table: ScoredTable) -> dict[str, Any]:
    """The JSON of `dpsyn compare`: one synthetic table."""
    head = _head("comparison", schema_name, [table])
    return head | table_entry(table) | {"metrics": metric_entries(list(table.scores))}


def report_document(schema_name: str, tables: Sequence[ScoredTable]) -> dict[str, Any]:
    """The JSON of `dpsyn report`: one or more synthetic tables; the verdict on a single one is at the top as well."""
    listed = list(dict.fromkeys(n for t in tables for n in t.scores))
    entries = [table_entry(t) for t in tables]
    head = _head("report", schema_name, tables)
    if len(entries) == 1 and "verdict" in entries[0]:
        head["verdict"] = entries[0]["verdict"]
    return head | {"metrics": metric_entries(listed), "tables": entries}


def dumps(document: Mapping[str, Any]) -> str:
    """As JSON text without NaN."""
    return json.dumps(document, ensure_ascii=False, allow_nan=False, separators=(",", ":")) + "\n"


def lines(scores: Mapping[str, Outcome]) -> list[str]:
    """One line a score for a terminal: title, value, floor and equivalent subsample, or why there is none."""
    out = []
    for name, s in scores.items():
        title = metric_class(name).title if name in names() else name
        if isinstance(s, MetricError):
            out.append(f"{title:<30} -          {s}")
        else:
            floor = "" if s.floor is None else f"   (a fresh sample: {s.floor:.4g})"
            share = s.details.get("equivalent_subsample")
            size = "" if share is None else f"   as good as {in_words(share)}"
            out.append(f"{title:<30} {s.value:<10.6g}{floor}{size}")
    return out


def verdict_lines(table: ScoredTable, words: Words = ENGLISH) -> list[str]:
    """The verdict on a table as one line; without a real table what released values alone say, where they do."""
    found = of(table.comparison)
    if found is None:
        text = released_words(table.comparison, table.manifest, words)
        return [text] if text else []
    return [sentence(found, words, epsilon=table.epsilon)]


def alarm_lines(table: ScoredTable, words: Words = ENGLISH) -> list[str]:
    """The alarm on a table that is too near to the real one, as one line; nothing for others."""
    graded = of(table.comparison)
    text = "" if graded is None else alarm(graded, words)
    return [f"{words['alarm']}: {text}"] if text else []


def label_of(tables: Sequence[ScoredTable]) -> str:
    """The tag of a whole report: only tables that their manifests prove and promise may be called safe to publish."""
    if any(t.comparison.real is not None for t in tables):
        return PRIVATE_LABEL
    if any(t.manifest is not None and not t.manifest.private for t in tables):
        return UNSAFE_LABEL
    if any(t.receipt is not None and not t.receipt.holds for t in tables):
        return UNPROVED_LABEL
    if any(t.receipt is not None and not t.receipt.own for t in tables):
        return ANOTHER_LABEL
    if any(t.receipt is not None and t.receipt.vouched for t in tables):
        return WORD_LABEL
    if not all(t.publishable for t in tables):
        return UNKNOWN_LABEL
    public = any(t.receipt is not None and t.receipt.public_table for t in tables)
    return f"{SAFE_LABEL}; {PUBLIC_TABLE}" if public else SAFE_LABEL


def _head(kind: str, schema_name: str, tables: Sequence[ScoredTable]) -> dict[str, Any]:
    private = any(t.comparison.real is not None for t in tables)
    return {
        "version": VERSION,
        "kind": kind,
        "label": label_of(tables),
        "reads_private": private,
        "schema": schema_name,
        "n_real": tables[0].comparison.whole_n if private else None,
    }


def bands(tables: Sequence[ScoredTable], *, level: float = 0.95) -> dict[str, Any]:
    """Mean, deviation and t-interval of the mean by metric, where two or more tables have a score."""
    from scipy.stats import t as student

    out: dict[str, Any] = {}
    for name in dict.fromkeys(n for t in tables for n in t.scores):
        values = np.array([s.value for t in tables if isinstance(s := t.scores.get(name), Score)])
        if len(values) < 2:
            continue
        mean, deviation = float(values.mean()), float(values.std(ddof=1))
        half = float(student.ppf(0.5 + level / 2, len(values) - 1)) * deviation / math.sqrt(len(values))
        out[name] = {
            "runs": len(values),
            "mean": mean,
            "deviation": deviation,
            "low": mean - half,
            "high": mean + half,
            "minimum": float(values.min()),
            "maximum": float(values.max()),
        }
    return out
