"""A release in a notebook: what was promised, what it is worth, and the first records, as a piece of HTML."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

from dpsyn_core.estimate import Measurement
from dpsyn_core.privacy import Manifest

RECORDS = 5  # that are shown
ORDERS = {1: "one column", 2: "two columns", 3: "three columns"}


def as_html(m: Manifest, table: Any, released: Sequence[Measurement]) -> str:
    """The promise, the error to expect, and the first records; every text is escaped.

    The error is computed from released values alone, so that the piece may be published with the release.

    Args:
        m: the manifest of the release.
        table: of pyarrow.
        released: every marginal that was paid for; empty for a system that measures none.
    """
    head = "Synthetic table" if m.private else "NOT PRIVATE: synthetic table"
    rows = [
        ("Promise", m.guarantee),
        *(("Why not private", reason) for reason in m.not_private_because),
        ("System", m.method),
        ("Charges", f"{len(m.charges)}, listed in .manifest"),
        *(("Worth", sentence) for sentence in worth(released)),
    ]
    listed = "".join(f"<tr><th>{escape(name)}</th><td>{escape(text)}</td></tr>" for name, text in rows)
    title = f"{head}: {table.num_rows:,} records, {table.num_columns} columns"
    return f'<div><p><strong>{escape(title)}</strong></p><table border="1">{listed}</table>{_records(table)}</div>'


def worth(released: Sequence[Measurement]) -> list[str]:
    """The error that the noise alone makes in released tables, by their number of columns, in sentences."""
    from dpsyn_core.evaluate import estimated_total, expected_tvd

    by_order: dict[int, list[Measurement]] = {}
    for measured in released:
        if measured.attributes and measured.sigma > 0:
            by_order.setdefault(len(measured.attributes), []).append(measured)
    if not by_order:
        return ["no tables with a known error were released; compare the records with a report"]
    n = estimated_total([some for group in by_order.values() for some in group])
    out = []
    for order, group in sorted(by_order.items()):
        errors = sorted(expected_tvd(x.cells, x.sigma, n) for x in group)
        of = ORDERS.get(order, f"{order} columns")
        out.append(
            f"{len(group):,} released tables of {of}: noise moves {errors[len(errors) // 2]:.2%} of the records of the "
            f"middle one, {errors[-1]:.2%} of the worst"
        )
    return out


def _records(table: Any) -> str:
    """The first records, as a table."""
    head = "".join(f"<th>{escape(str(name))}</th>" for name in table.column_names)
    first = table.slice(0, RECORDS).to_pylist()
    body = "".join(
        "<tr>" + "".join(f"<td>{'' if v is None else escape(str(v))}</td>" for v in row.values()) + "</tr>"
        for row in first
    )
    return f'<table border="1"><tr>{head}</tr>{body}</table>'
