"""The rules of the schema on the report: how many records break each, real (private) and synthetic."""

import streamlit as st

from dpsyn_core.schema import derived_rules
from ui.report.look import Look
from ui.schema import tried
from ui.schema.rule_words import rule_words
from ui.shared.text import counted, literal, number, percent, t


def panel(view: Look) -> None:
    """Every rule with the share and number of records that break it; nothing where the schema has none."""
    first = view.sides[0].comparison.rules
    if not first:
        return
    if any(rule.real is not None for rule in first):
        tried.see(tried.names(*view.space.parts.values()))
    broken = sum(any(side.comparison.rules[i].synthetic > 0 for side in view.sides) for i in range(len(first)))
    heading = counted("report_rules.broken", broken) if broken else counted("report_rules.kept", len(first))
    with st.expander(heading, key="report_rules"):
        rows = []
        declared = view.schema
        words = {str(r): rule_words(r) for r in (*declared.rules, *derived_rules(declared).values())}
        for i, rule in enumerate(first):
            row = {t("report_rules.rule"): literal(words.get(rule.rule, rule.rule))}
            if rule.real is not None:
                row[t("report_rules.real")] = _share(rule.real, rule.real_records or 0)
            for side in view.sides:
                of = side.comparison.rules[i]
                row[literal(view.name(side))] = _share(of.synthetic, of.synthetic_records)
            rows.append(row)
        st.table(rows, hide_index=True, alt=heading)  # wraps, so that a narrow screen shows the shares too


def _share(share: float, records: int) -> str:
    return f"{percent(share, 2)} ({number(records)})"
