"""A rule in the visitor's language, as text without Markdown."""

from __future__ import annotations

from dpsyn_core.schema.rules.formula import DifferenceRule
from dpsyn_core.schema.rules.registry import AnyRule, BlankRule, FollowsRule, ImpossibleRule, UniqueRule
from ui.shared.text import t


def rule_words(rule: AnyRule) -> str:
    """Formulas are the same everywhere; what is said in words follows the language of the page."""
    if isinstance(rule, ImpossibleRule):
        return t("rules.says_impossible", where=rule.where)
    if isinstance(rule, BlankRule):
        cell = t("rules.blank_cell") if rule.value is None else str(rule.value)
        key = "rules.says_blank_only" if rule.only else "rules.says_blank"
        return t(key, column=rule.column, cell=cell, where=rule.where)
    if isinstance(rule, FollowsRule) and rule.on is not None:
        return t(f"rules.says_{rule.part}", column=rule.column, minus=rule.of[0], of=rule.on)
    if isinstance(rule, FollowsRule) and rule.part is not None:
        return t("rules.says_part", column=rule.column, part=t(f"rules.part_{rule.part}"), of=rule.of[0])
    if isinstance(rule, FollowsRule):
        key = "rules.says_follows" if rule.map is None else "rules.says_follows_map"
        return t(key, column=rule.column, of=", ".join(rule.of), count=len(rule.map or ()))
    if isinstance(rule, UniqueRule):
        return t("rules.says_unique", columns=", ".join(rule.together))
    if isinstance(rule, DifferenceRule) and rule.completed:
        return t(f"rules.says_{rule.unit}", column=rule.column, minus=rule.minus, of=rule.of)
    if isinstance(rule, DifferenceRule) and rule.unit:
        return t(
            "rules.says_difference", column=rule.column, of=rule.of, minus=rule.minus, unit=t(f"rules.unit_{rule.unit}")
        )
    return str(rule)
