"""Plug-ins: systems of other packages, which declare them as entry points of the group `dpsyn.systems`.

A name is listed without its code, which is imported when a run names it. The built-in systems stand in the table of
`systems/registry.py`: a checkout, an installation from before the last change and the app in a browser have no current
metadata. A plug-in never replaces a built-in system.
"""

from __future__ import annotations

import re
from importlib.metadata import EntryPoint, entry_points

from dpsyn_core.errors import MethodError
from dpsyn_core.systems.base import Guarantee, MethodConfig

GROUP = "dpsyn.systems"
NAME = re.compile(r"[a-z0-9-]{1,40}")  # of a system, as documents of runs have it


def plugins() -> dict[str, tuple[EntryPoint, ...]]:
    """What the installed packages declare, by the name of the system; nothing of it is imported."""
    declared: dict[str, tuple[EntryPoint, ...]] = {}
    for point in sorted(entry_points(group=GROUP), key=lambda p: p.name):
        if NAME.fullmatch(point.name) and point not in declared.get(point.name, ()):
            declared[point.name] = (*declared.get(point.name, ()), point)
    return declared


def package_of(point: EntryPoint) -> tuple[str, str]:
    """Name and version of the package that declares a system."""
    return ("", "") if point.dist is None else (point.dist.name, point.dist.version)


def load(name: str, points: tuple[EntryPoint, ...]) -> type[MethodConfig]:
    """Imports the config class of a plug-in. Raises MethodError."""
    packages = ", ".join(sorted({package_of(p)[0] for p in points}))
    if len(points) > 1:
        msg = f"the method '{name}' is declared by several packages ({packages}); keep one of them installed"
        raise MethodError(msg)
    try:
        config = points[0].load()
    except Exception as error:  # the code of others may raise anything
        msg = (
            f"the method '{name}' of the package '{packages}' cannot be loaded ({type(error).__name__}); "
            "update that package, or use the method 'rls'"
        )
        raise MethodError(msg) from error
    stated = isinstance(getattr(config, "guarantee", None), Guarantee) and hasattr(config, "summary")
    if not (isinstance(config, type) and issubclass(config, MethodConfig) and stated):
        msg = (
            f"the method '{name}' of the package '{packages}' is no MethodConfig with a summary and a guarantee; "
            "update that package, or use the method 'rls'"
        )
        raise MethodError(msg)
    loaded: type[MethodConfig] = config
    loaded.name = name
    return loaded
