"""Settings of systems: how one is declared, groups that several share, and attribute sets as text or lists.

Seconds and memory of a run, from public sizes alone: the config of each system estimates them. The figures stand on
processor seconds of one thread that `python -m benchmarks.estimates` measured for every system on tables of 2,000 to
100,000 records and 7 to 28 attributes, and on the run of 1,000,000 x 14 of docs/evidence/figures.md.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field
from pydantic.fields import FieldInfo

from dpsyn_core.errors import SettingError
from dpsyn_core.schema import AttributeSet, Domain


def setting(
    default: Any, title: str, description: str | None, *, between: tuple[Any, ...] = (), unit: str = "", **limits: Any
) -> Any:
    """A setting of a system: its default, its words, the least and the most it can be, its unit; limits: of `Field`."""
    if between:
        limits["ge"], limits["le"] = between
    extra: Any = {"json_schema_extra": {"unit": unit}} if unit else {}
    return Field(default, title=title, description=description, **limits, **extra)


class SettingsGroup(BaseModel):
    """Settings that several systems hold as one field, `update` say; people write them as `update.polish`.

    The field of a system has a default, which gives the default values of this system.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    def changed(self, given: Mapping[str, Any]) -> Mapping[str, Any]:
        """The values of this group where none is given, and those that are."""
        return {**dict(self), **given}


def groups_of(config: type[BaseModel]) -> Mapping[str, SettingsGroup]:
    """The groups among the settings of a system, as they are by default."""
    return {n: f.default for n, f in config.model_fields.items() if isinstance(f.default, SettingsGroup)}


def fields_of(config: type[BaseModel]) -> Mapping[str, FieldInfo]:
    """Every single setting of a system by the name that people write, each with the default of this system."""
    out: dict[str, FieldInfo] = {}
    groups = groups_of(config)
    for name, field in config.model_fields.items():
        if name not in groups:
            out[name] = field
            continue
        for inner, declared in type(groups[name]).model_fields.items():
            out[f"{name}.{inner}"] = copy(declared)
            out[f"{name}.{inner}"].default = getattr(groups[name], inner)
    return out


def grouped(config: type[BaseModel], given: Mapping[str, Any]) -> Mapping[str, Any]:
    """Settings as documents state them: `update.polish` becomes a part of `update`.

    So does `polish`, for documents and commands that were written before there were groups.

    Raises:
        SettingError: a setting is given twice.
    """
    groups = groups_of(config)
    old = {inner: name for name, group in groups.items() for inner in type(group).model_fields}
    out: dict[str, Any] = {n: dict(v) if n in groups and isinstance(v, Mapping) else v for n, v in given.items()}
    for key in given:
        name, dot, inner = key.partition(".")
        if not dot and key in old and key not in config.model_fields:
            name, inner = old[key], key
        elif not dot or name not in groups:
            continue
        value, parts = out.pop(key), out.setdefault(name, {})
        if not isinstance(parts, dict) or inner in parts:
            msg = f"setting '{name}.{inner}' is given twice; give each setting once"
            raise SettingError(msg)
        parts[inner] = value
    return out


def written(settings: Mapping[str, Any], config: type[BaseModel]) -> Mapping[str, Any]:
    """The other way: settings by the names that people write, from a document of any age."""
    groups = groups_of(config)
    out: dict[str, Any] = {}
    for name, value in grouped(config, settings).items():
        if name in groups and isinstance(value, Mapping):
            out |= {f"{name}.{inner}": v for inner, v in value.items()}
        else:
            out[name] = value
    return out


def parse_sets(value: Any) -> Any:
    """'age+sex, city' or ['age+sex', 'city'] becomes (('age', 'sex'), ('city',)); the rest is left to pydantic."""
    if isinstance(value, str):
        value = value.split(",")
    if not isinstance(value, list | tuple):
        return value
    sets = (tuple(n.strip() for n in v.split("+") if n.strip()) if isinstance(v, str) else v for v in value)
    return tuple(s for s in sets if not isinstance(s, tuple) or s)


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


SECONDS_PER_CELL = 0.6  # for each million cells of all pairs, whatever the system
MOST = 1e15  # cells of the whole domain that are told apart; no system can take as many
BASE_MB, MB_PER_MILLION, MB_PER_MILLION_CELLS = 285, 20.0, 24.0  # of values, and of cells of all pairs


@dataclass(frozen=True)
class Size:
    """What an estimate depends on: records in and out; millions of cells of all pairs, and of the whole domain."""

    records: int
    out: int
    attributes: int
    cells: float
    domain: float = 0.0

    @classmethod
    def of(cls, domain: Domain, records: int, out: int | None = None) -> Size:
        """The size of a run. out: records to write, when that is another number than those that are read."""
        sizes = domain.sizes
        cells = (sum(sizes) ** 2 - sum(s * s for s in sizes)) / 2e6
        whole = min(math.prod(map(float, sizes)), MOST) / 1e6  # of 200 numbers it is no float any more
        return cls(records=records, out=out or records, attributes=len(sizes), cells=cells, domain=whole)

    @property
    def values(self) -> float:
        """Millions of values to synthesize."""
        return self.out * self.attributes / 1e6


@dataclass(frozen=True)
class Estimate:
    """Processor seconds of one thread once the engine is loaded, and peak megabytes of the process."""

    seconds: float
    megabytes: float


def estimate_of(seconds: float, size: Size) -> Estimate:
    """An estimate from the seconds of a system, plus the counting of pairs and the memory that all systems need."""
    values = max(size.records, size.out) * size.attributes / 1e6
    megabytes = BASE_MB + MB_PER_MILLION * values + MB_PER_MILLION_CELLS * size.cells
    return Estimate(seconds=seconds + SECONDS_PER_CELL * size.cells, megabytes=megabytes)
