"""Certificate: a manifest as a page of text that a person can read, print and sign, in any language with its words."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from dpsyn_core.privacy.charge_record import ChargeRecord
from dpsyn_core.privacy.ledger.grouping import columns_of, in_groups
from dpsyn_core.privacy.manifest.statement import Statement

Words = Mapping[str, str]
MOST_LINES = 40
LABEL = 21  # letters of a label
ENGLISH: dict[str, str] = tomllib.loads(Path(__file__).with_name("certificate.en.toml").read_text("utf-8"))


def certificate(m: Statement, words: Words = ENGLISH, said: Callable[[str], str] = str) -> str:
    """Unit, promise, spends, method, seeds and versions, in plain words.

    In long lists, equal charges are one line; after 40 lines the rest is counted. The JSON holds them all.

    Args:
        m: the manifest.
        words: as ENGLISH. Names, reasons and settings stay as the manifest has them.
        said: a rule in the language of the words, from its English sentence.
    """
    w = words
    lines = [w["title"] if m.private else w["not_private"], "", promise(m, w)]
    if w["note"]:
        lines.append(w["note"])
    if not m.private:
        lines += ["", w["why"], *(f"  - {reason}" for reason in m.not_private_because)]
    lines += [
        "",
        w["section_promise"],
        _row(w["epsilon"], _number(m.epsilon, "g", w)),
        _row(w["delta"], _number(m.delta, "g", w)),
        _row(w["recomputed"], w["recomputed_note"].format(epsilon=_number(m.recomputed_epsilon(), ".6g", w))),
        *_second_bound(m, w),
        _row(w["neighbours"], w[m.neighbours]),
        _row(w["individual"], _individual(m, w)),
        *_cost(m, w),
        "",
        w["section_release"],
        _row(w["dataset"], m.dataset),
        _row(w["schema"], f"{m.schema_name} ({m.schema_hash[:16]})"),
        _row(w["method"], m.method),
        *(f"    {key} = {w['unset'] if value is None else value}" for key, value in _settings(m.settings)),
        *_asked(m, w),
        *([] if m.query is None else [_row(w["query"], w["query_note"].format(who=w["owners_word"]))]),
        *_public(m, w),
        *_refitted(m, w),
        _row(w["records"], str(m.n_records)),
        _row(w["ledger"], m.run_id),
        _row(w["seed"], w["seed_note"].format(seed=w["no_seed"] if m.seed is None else m.seed)),
        _row(w["seconds"], _number(m.seconds, "g", w)),
        "",
        *_rules(m, w, said),
        w["accesses"].format(count=len(m.charges)),
        *_charges(m.charges, w),
    ]
    if m.bought:
        both = _number(m.recomputed_epsilon(with_bought=True), ".6g", w)
        lines += ["", w["bought"].format(count=len(m.bought)), *_charges(m.bought, w)]
        lines.append("  " + w["together"].format(epsilon=both, delta=_number(m.delta, "g", w)))
    lines += ["", w["versions"], *(f"  {name} {number}" for name, number in m.versions.items())]
    return "\n".join(lines) + "\n"


def promise(m: Statement, w: Words) -> str:
    """The guarantee in words: the sentence of the manifest, or in another language its fields in a sentence."""
    if w["promise"] == ENGLISH["promise"]:
        return m.guarantee
    delta = w["with_delta"].format(delta=_number(m.delta, "g", w)) if m.delta else w["pure"]
    values: dict[str, Any] = {"epsilon": _number(m.epsilon, "g", w), "delta": delta, "individual": _one(m, w)}
    values["change"] = w["more_or_less" if m.neighbours == "add-remove" else "exchanged"]
    if m.refit is not None and m.refit.by is not None:
        values |= {"by": m.refit.by, "delta": _number(m.delta, "g", w)}
        return w["promise_others"].format(**values)
    if not m.private and not m.charges:
        return w["promise_bare"]
    return w["promise_private" if m.private else "promise_noisy"].format(**values)


def _one(m: Statement, w: Words) -> str:
    """Who is protected, within the sentence of the promise."""
    column, most = m.identifier, m.max_records
    if m.hanging:
        return w["one_hanging"].format(column=column, tables=_hanging(m, w))
    if column is not None:
        return w["one_named_one" if most == 1 else "one_named"].format(column=column, most=most)
    return w["one_record"] if most == 1 else w["one_said"].format(most=most)


def _hanging(m: Statement, w: Words) -> str:
    return ", ".join(w["hanging_table"].format(most=h.max_children, table=h.table) for h in m.hanging)


def _individual(m: Statement, w: Words) -> str:
    if m.hanging:
        return w["named_hanging"].format(column=m.identifier, tables=_hanging(m, w))
    if m.identifier is not None:
        return w["named"].format(column=m.identifier, most=m.max_records)
    return w["each_record"] if m.max_records == 1 else w["said"].format(most=m.max_records)


def _row(label: str, value: str) -> str:
    return f"  {label:<{LABEL - 1}} {value}"


def _number(value: float, form: str, w: Words) -> str:
    """A number with the marks of the language."""
    text = format(value, form)
    return text if w["decimal_mark"] == "." else text.translate(str.maketrans(",.", f".{w['decimal_mark']}"))


def _cost(m: Statement, w: Words) -> list[str]:
    if m.mu is not None and m.mu > 0:
        samples = any(c.mechanism == "sampled-gaussian" for c in m.charges)
        note = w["cost_samples" if samples else "cost_note"]
        cost = note.format(mu=_number(m.mu, ".6g", w), rho=_number(m.mu**2 / 2, ".6g", w))
        return [_row(w["cost" if samples else "cost_exact"], cost)]
    return [_row(w["zcdp"], f"rho {_number(m.rho, '.6g', w)}")] if m.rho else []


def _settings(settings: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Settings by the names that people write: a part of `update` is `update.polish`."""
    for key, value in settings.items():
        if isinstance(value, Mapping):
            yield from ((f"{key}.{part}", v) for part, v in value.items())
        else:
            yield key, value


def _second_bound(m: Statement, w: Words) -> list[str]:
    """Where samples took part: what Renyi accounting says, which shares next to nothing with the figure above it."""
    bound = m.second_epsilon()
    return [] if bound is None else [_row(w["renyi"], w["renyi_note"].format(epsilon=_number(bound, ".6g", w)))]


def _asked(m: Statement, w: Words) -> list[str]:
    """How many questions were declared, and their share; public."""
    if m.questions is None:
        return []
    listed, share = m.questions.document.get("questions", ()), _number(100 * m.questions.share, ".3g", w)
    note = w["questions_note"].format(count=len(listed), hash=m.questions.sha256[:16], share=share)
    return [_row(w["questions"], note)]


def _public(m: Statement, w: Words) -> list[str]:
    """The public table that the run used."""
    if m.public_table is None:
        return []
    p = m.public_table
    note = w["public_table_note"].format(name=p.name, hash=p.sha256[:16], records=p.n_records, columns=len(p.columns))
    chosen = [f"    {w['public_table_chosen'].format(candidates=', '.join(p.candidates))}"] if p.candidates else []
    return [_row(w["public_table"], note), *chosen, f"    {w['public_table_word'].format(who=w['owners_word'])}"]


def _rules(m: Statement, w: Words, said: Callable[[str], str]) -> list[str]:
    """The rules that every record keeps, with who vouches for each; none where there are none."""
    rules = m.rules or ()
    if not rules:
        return []
    lines = [w["rules"].format(count=len(rules))]
    for r in rules[:MOST_LINES]:
        table = "" if r.table is None else f"{r.table}: "
        lines.append(f"  {table}{said(r.rule)}: {w['vouched_' + r.vouched.replace(' ', '_')]}")
    if len(rules) > MOST_LINES:
        lines.append("  " + w["more"].format(count=_number(len(rules) - MOST_LINES, ",", w)))
    return [*lines, ""]


def _refitted(m: Statement, w: Words) -> list[str]:
    """Lines on a refit: its system, the release that it reused, its conditions and rules; none without a refit."""
    if m.refit is None:
        return []
    r = m.refit
    note = w["refit_others" if r.by is not None else "refit_own"].format(method=r.method, hash=r.release[:16])
    lines = [_row(w["refit"], note)]
    lines += [] if r.where is None else [_row(f"  {w['where']}", r.where)]
    lines += [] if r.columns is None else [_row(f"  {w['columns']}", ", ".join(r.columns))]
    return lines + [_row(f"  {w['rule']}", json.dumps(rule, ensure_ascii=False)) for rule in r.rules]


def _charges(records: Iterable[ChargeRecord], w: Words) -> list[str]:
    rows = list(records)
    groups = [[r] for r in rows]
    if len(rows) > MOST_LINES:
        groups = in_groups(rows, columns_of(rows))
    lines = [_line(group[0], w, alike=len(group) - 1) for group in groups[:MOST_LINES]]
    if len(groups) > MOST_LINES:
        lines.append("  " + w["more"].format(count=_number(sum(map(len, groups[MOST_LINES:])), ",", w)))
    return lines or [f"  {w['none']}"]


def citation(m: Statement, year: int, words: Words = ENGLISH) -> str:
    """One sentence for a paper, and the guarantee."""
    w, content = words, None if m.digests is None else m.digests.content
    return w["cite"].format(
        dataset=m.dataset,
        records=_number(m.n_records, ",", w),
        year=year,
        method=m.method,
        schema=m.schema_name,
        version=m.versions.get("dpsyn-studio", ""),
        run=m.run_id[:16],
        promise=promise(m, w).removesuffix(".") if m.private else w["cite_bare"],
        content=w["cite_content"].format(hash=content[:16]) if content else "",
    )


def charge_name(name: str, w: Words) -> str:
    """What a charge is called in a language; names of columns stay."""
    for key, english in ENGLISH.items():
        if key.startswith("charge_"):
            head, open_end, _ = english.partition("{columns}")
            if name == english or (open_end and name.startswith(head)):
                return w[key].format(columns=name.removeprefix(head))
    return name


def _line(r: ChargeRecord, w: Words, *, alike: int = 0) -> str:
    name, mechanism = charge_name(r.name, w), w.get(f"mechanism_{r.mechanism}", r.mechanism)
    name = w["alike"].format(name=name, count=_number(alike, ",", w)) if alike else name
    cells = w["cells_one"] if r.cells == 1 else w["cells"].format(count=r.cells)
    if r.mechanism == "sampled-gaussian":
        cost = w["steps"].format(steps=r.steps, sampling=_number(r.sampling, "g", w))
        cost += f", rho {_number(r.rho, '.4g', w)}" if r.rho else ""
    else:
        cost = f"epsilon {_number(r.epsilon, '.4g', w)}" if r.epsilon else f"rho {_number(r.rho, '.4g', w)}"
    if r.delta:
        cost += f", delta {_number(r.delta, '.3g', w)}"
    if r.kind in {"sum", "training"} and r.sigma is not None and r.sensitivity:  # the grid's own unit says little
        what = w["clip" if r.kind == "training" else "the_sensitivity"]
        times = w["times"].format(value=_number(r.sigma / r.sensitivity, ".4g", w), what=what)
        return f"  {name}: {mechanism}, {times}, {cells}, {cost}"
    noise = f"sigma {_number(r.sigma, '.6g', w)}, " if r.sigma is not None else ""
    if not noise and r.scale:
        noise = w["scale"].format(value=_number(r.scale, ".6g", w)) + ", "
    sensitivity = w["sensitivity"].format(value=_number(r.sensitivity, ".4g", w))
    return f"  {name}: {mechanism}, {noise}{sensitivity}, {cells}, {cost}"
