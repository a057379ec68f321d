"""Registry of systems: one file with @register that is named in MODULES, or an entry point of another package."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from dpsyn_core.errors import MethodError, SettingError
from dpsyn_core.systems.base import MethodConfig
from dpsyn_core.systems.settings import fields_of, grouped, groups_of, written

# method name -> module; modules are imported when asked for, so that `dpsyn --help` stays light
MODULES: dict[str, str] = {
    "rls": "dpsyn_core.systems.rls.system",
    "independent": "dpsyn_core.systems.independent",
    "field-groups": "dpsyn_core.systems.others.field_groups",
    "dirichlet-multinomial": "dpsyn_core.systems.others.dirichlet",
    "dpsyn": "dpsyn_core.systems.others.dpsyn",
    "privsyn": "dpsyn_core.systems.others.privsyn",
    "mst": "dpsyn_core.systems.others.mst",
    "aim": "dpsyn_core.systems.others.aim",
    "privbayes": "dpsyn_core.systems.others.privbayes",
    "mwem": "dpsyn_core.systems.others.mwem",
    "priview": "dpsyn_core.systems.others.priview",
    "dpsyn-2018": "dpsyn_core.systems.others.dpsyn2018.system",
    "p3gm": "dpsyn_core.systems.deep.p3gm",
    "p3gm-ae": "dpsyn_core.systems.deep.p3gm",
    "dp-vae": "dpsyn_core.systems.deep.dp_vae",
    "dp-gm": "dpsyn_core.systems.deep.dp_gm",
}
# systems that add no noise: for teaching and as ceilings, offered nowhere beside the others
UNPROTECTED: dict[str, str] = {"pgm": "dpsyn_core.systems.deep.dp_vae", "vae": "dpsyn_core.systems.deep.dp_vae"}
DEFAULT = "rls"

_configs: dict[str, type[MethodConfig]] = {}
C = TypeVar("C", bound=type[MethodConfig])
M = TypeVar("M", bound=BaseModel)


def register(name: str) -> Callable[[C], C]:
    """Class decorator: registers a config under its name. Raises MethodError for that of a built-in system."""

    def keep(config: C) -> C:
        built_in = MODULES.get(name) or UNPROTECTED.get(name)
        if built_in not in (None, config.__module__):
            msg = f"'{name}' is a built-in system; give the system of {config.__module__} another name"
            raise MethodError(msg)
        config.name = name
        _configs[name] = config
        return config

    return keep


def names() -> list[str]:
    """All built-in systems that promise something, in the order in which they are offered."""
    return list(MODULES)


def others() -> dict[str, tuple[str, str]]:
    """Systems that other installed packages declare: name and version of the package by the name of the system."""
    from dpsyn_core.systems import plugins  # no run of a built-in system needs it

    declared = {n: points for n, points in plugins.plugins().items() if n not in MODULES and n not in UNPROTECTED}
    return {name: plugins.package_of(points[0]) for name, points in declared.items()}


def package_of(name: str) -> tuple[str, str] | None:
    """Name and version of the package that declares a system; None for a built-in one and for an unknown name."""
    return None if name in MODULES or name in UNPROTECTED else others().get(name)


def config_class(name: str) -> type[MethodConfig]:
    """The config class of a system. Raises MethodError for an unknown name, or a plug-in that cannot be loaded."""
    module = MODULES.get(name) or UNPROTECTED.get(name)
    if module is not None:
        importlib.import_module(module)
        return _configs[name]
    from dpsyn_core.systems import plugins  # no run of a built-in system needs it

    declared = plugins.plugins()
    if name not in declared:
        msg = f"unknown method '{name}'; known are {', '.join([*MODULES, *others()])}"
        raise MethodError(msg)
    return plugins.load(name, declared[name])


def configure(name: str, settings: Mapping[str, Any]) -> MethodConfig:
    """A config with these settings. Raises SettingError that names the setting, what was got and what is allowed."""
    return validated(config_class(name), name, settings)


def validated(cls: type[M], name: str, settings: Mapping[str, Any]) -> M:
    """A model of settings. Raises SettingError as `configure` does; name: of what they are settings, for messages."""
    names = fields_of(cls)
    unknown = [k for k in written(settings, cls) if k not in names and k not in cls.model_fields]
    if unknown:
        msg = f"unknown setting '{unknown[0]}' of {name}; known are {', '.join(names) or 'none'}"
        raise SettingError(msg)
    try:
        return cls(**grouped(cls, settings))
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(p) for p in first["loc"])
        msg = f"setting '{where}' of {name} is {first['input']!r:.60}: {first['msg']}"
        raise SettingError(msg) from error


def describe(name: str) -> dict[str, Any]:
    """Name, summary, guarantee, neighbours and settings of a system, ready for JSON and for forms."""
    cls = config_class(name)
    settings = []
    for key, prop in _properties(cls):
        kinds = [k for k in prop.get("anyOf", [prop]) if k.get("type") != "null"]
        kind = kinds[0] if kinds else {}
        settings.append(
            {
                "name": key,
                "label": prop.get("title", key),
                "help": prop.get("description", ""),
                "type": kind.get("type", "string"),
                "default": prop.get("default"),
                "minimum": kind.get("minimum", kind.get("exclusiveMinimum")),
                "maximum": kind.get("maximum", kind.get("exclusiveMaximum")),
                "choices": kind.get("enum"),
                "unit": prop.get("unit", ""),
                "optional": len(kinds) < len(prop.get("anyOf", [prop])),
            }
        )
    g = cls.guarantee
    return {
        "name": name,
        "summary": cls.summary,
        "guarantee": g.text,
        "neighbours": list(g.neighbours),
        "pure": g.pure,
        "approximate": g.approximate,
        "needs_public_n": g.needs_public_n,
        "unprotected": cls.unprotected,
        "settings": settings,
        "missing": cls.missing(),
    }


def _properties(cls: type[MethodConfig]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each setting by the name that people write, with its JSON schema and this system's default."""
    groups = groups_of(cls)
    for name, prop in cls.model_json_schema().get("properties", {}).items():
        if name not in groups:
            yield name, prop
            continue
        usual = groups[name].model_dump(mode="json")
        for inner, part in type(groups[name]).model_json_schema()["properties"].items():
            yield f"{name}.{inner}", {**part, "default": usual[inner]}
