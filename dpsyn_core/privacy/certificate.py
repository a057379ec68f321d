"""Certificate: a manifest as a page of text that a person can read, print and sign."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from dpsyn_core.privacy.grouping import columns_of, in_groups

if TYPE_CHECKING:
    from dpsyn_core.privacy.charge_record import ChargeRecord
    from dpsyn_core.privacy.statement import Statement

_MOST_LINES = 40
_WHO = {
    "add-remove": "add/remove: a neighbour has one individual more or less; the number of records is private",
    "replace": "replace: a neighbour has one individual exchanged; the number of individuals is public",
}


def certificate(manifest: Statement) -> str:
    """Unit, promise, spends, method, seeds and versions, in plain words.

    In long lists, equal charges are one line; after 40 lines the rest is counted. The JSON holds them all.
    """
    m = manifest
    lines = ["DIFFERENTIAL PRIVACY CERTIFICATE" if m.private else "NOT PRIVATE - NO CERTIFICATE", ""]
    lines.append(m.guarantee)
    if not m.private:
        lines += ["", "Why this release is not private:", *(f"  - {reason}" for reason in m.not_private_because)]
    lines += [
        "",
        "Promise",
        f"  epsilon              {m.epsilon:g}",
        f"  delta                {m.delta:g}",
        f"  recomputed epsilon   {m.recomputed_epsilon():.6g} (from the charges below)",
        *_second_bound(m),
        f"  neighbours           {_WHO[m.neighbours]}",
        f"  individual           {_individual(m)}",
    ]
    if m.mu is not None and m.mu > 0:
        samples = any(c.mechanism == "sampled-gaussian" for c in m.charges)
        what = "Gaussian cost       " if samples else "exact Gaussian cost "
        lines.append(f"  {what} mu {m.mu:.6g} (rho {m.mu**2 / 2:.6g}{', covers the samples' if samples else ''})")
    elif m.rho:
        lines.append(f"  zCDP cost            rho {m.rho:.6g}")
    lines += [
        "",
        "Release",
        f"  dataset              {m.dataset}",
        f"  schema               {m.schema_name} ({m.schema_hash[:16]})",
        f"  method               {m.method}",
        *(f"    {key} = {value}" for key, value in _settings(m.settings)),
        *_asked(m),
        *_query(m),
        f"  records              {m.n_records}",
        f"  ledger entry         {m.run_id}",
        f"  post-processing seed {'none recorded' if m.seed is None else m.seed}; noise has no seed",
        f"  seconds              {m.seconds:g}",
        "",
        f"Every access to the data ({len(m.charges)})",
        *_charges(m.charges),
    ]
    if m.bought:
        both = m.recomputed_epsilon(with_bought=True)
        lines += ["", f"Bought earlier for the schema ({len(m.bought)})", *_charges(m.bought)]
        lines.append(f"  release and schema together: epsilon {both:.6g} at delta {m.delta:g}")
    lines += ["", "Versions", *(f"  {name} {number}" for name, number in m.versions.items())]
    return "\n".join(lines) + "\n"


def _settings(settings: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Settings by the names that people write: a part of `update` is `update.polish`."""
    for key, value in settings.items():
        if isinstance(value, Mapping):
            yield from ((f"{key}.{part}", v) for part, v in value.items())
        else:
            yield key, value


def _second_bound(m: Statement) -> list[str]:
    """Where samples took part: what Renyi accounting says, which shares next to nothing with the figure above it."""
    found = m.second_epsilon()
    return [] if found is None else [f"  Renyi accounting     {found:.6g} (a second, coarser bound)"]


def _asked(m: Statement) -> list[str]:
    """How many questions were declared, and their share; public."""
    if m.questions is None:
        return []
    listed = m.questions.document.get("questions", ())
    share = f"{100 * m.questions.share:.3g} % of what pairs of columns would get"
    return [f"  questions            {len(listed)} ({m.questions.sha256[:16]}), {share}"]


def _query(m: Statement) -> list[str]:
    """What rests on a person's word about the query."""
    return (
        []
        if m.query is None
        else [f"  query                {m.query}: that it reads each record by itself is not checked"]
    )


def _individual(m: Statement) -> str:
    if m.identifier is not None:
        return f"whom '{m.identifier}' names; at most {m.max_records} of their records, enforced before counting"
    if m.max_records == 1:
        return "each record"
    return f"holds at most {m.max_records} records, as the owner says: no column names individuals, none are enforced"


def _charges(records: Iterable[ChargeRecord]) -> list[str]:
    rows = list(records)
    groups = [[r] for r in rows]
    if len(rows) > _MOST_LINES:
        groups = in_groups(rows, columns_of(rows))
    lines = [_line(group[0], alike=len(group) - 1) for group in groups[:_MOST_LINES]]
    if len(groups) > _MOST_LINES:
        lines.append(f"  ... and {sum(map(len, groups[_MOST_LINES:])):,} more, all in the manifest's JSON")
    return lines or ["  none"]


def _line(r: ChargeRecord, *, alike: int = 0) -> str:
    name = f"{r.name}, and {alike:,} more, each" if alike else r.name
    if r.mechanism == "sampled-gaussian":
        cost = f"{r.steps} steps on samples of {r.sampling:g}" + (f", rho {r.rho:.4g}" if r.rho else "")
    elif r.epsilon:
        cost = f"epsilon {r.epsilon:.4g}"
    else:
        cost = f"rho {r.rho:.4g}"
    if r.delta:
        cost += f", delta {r.delta:.3g}"
    if r.kind in {"sum", "training"} and r.sigma is not None and r.sensitivity:  # the grid's own unit says little
        times = (
            f"sigma {r.sigma / r.sensitivity:.4g} times {'the clip norm' if r.kind == 'training' else 'sensitivity'}"
        )
        return f"  {name}: {r.mechanism}, {times}, {r.cells} cells, {cost}"
    noise = f"sigma {r.sigma:.6g}, " if r.sigma is not None else f"scale {r.scale:.6g}, " if r.scale else ""
    return f"  {name}: {r.mechanism}, {noise}sensitivity {r.sensitivity:.4g}, {r.cells} cells, {cost}"
