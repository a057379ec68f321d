"""Kinds of settings that several systems share: attribute sets written as text or lists."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BeforeValidator

from dpsyn_core.errors import SettingError
from dpsyn_core.schema.domain import AttributeSet, Domain


def parse_sets(value: Any) -> Any:
    """'age+sex, city' or ['age+sex', 'city'] becomes (('age', 'sex'), ('city',)); the rest is left to pydantic."""
    if isinstance(value, str):
        value = value.split(",")
    if not isinstance(value, list | tuple):
        return value
    sets = (_names(v) if isinstance(v, str) else v for v in value)
    return tuple(s for s in sets if not isinstance(s, tuple) or s)


def _names(text: str) -> tuple[str, ...]:
    return tuple(n.strip() for n in text.split("+") if n.strip())


AttributeSets = Annotated[tuple[tuple[str, ...], ...], BeforeValidator(parse_sets)]


def known_sets(sets: tuple[tuple[str, ...], ...], domain: Domain, *, setting: str) -> list[AttributeSet]:
    """The sets in domain order. Raises SettingError for a name that the schema does not have."""
    for names in sets:
        for name in names:
            if name not in domain.names:
                msg = f"setting '{setting}' names '{name}', which is no attribute; known are {', '.join(domain.names)}"
                raise SettingError(msg)
    return [domain.ordered_set(s) for s in sets]


def partition(sets: tuple[tuple[str, ...], ...], domain: Domain, *, setting: str) -> list[AttributeSet]:
    """Disjoint groups from a setting, or from the schema where the setting is empty; others are groups by themselves.

    Returns attribute sets in the order of their first attribute. Raises SettingError when two groups overlap.
    """
    groups = known_sets(sets, domain, setting=setting)
    if not groups:
        labels = dict.fromkeys(a.group for a in domain.attributes if a.group is not None)
        groups = [tuple(a.name for a in domain.attributes if a.group == label) for label in labels]
    seen: set[str] = set()
    for group in groups:
        twice = seen.intersection(group)
        if twice:
            msg = f"setting '{setting}' puts '{min(twice)}' into two groups; every attribute may stand in one"
            raise SettingError(msg)
        seen.update(group)
    groups += [(n,) for n in domain.names if n not in seen]
    return sorted(groups, key=lambda g: domain.index(g[0]))
