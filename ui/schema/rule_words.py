"""A rule in the visitor's language, as text without Markdown."""

from dpsyn_core.schema import Key, Rule
from ui.shared.text import t


def rule_words(rule: Rule) -> str:
    """Formulas are the same everywhere; what is said in words follows the language of the page."""
    key, filled = rule.words()
    if not key:
        return str(rule)
    return t(key, **{name: t(value) if isinstance(value, Key) else value for name, value in filled.items()})
