"""What need not be loaded: what compiling kernels takes, where they are kept, and libraries that nothing uses."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Callable
from pathlib import PurePath
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])
# scipy looks at every name of numpy, and so imports these
UNUSED = ("numpy.f2py", "numpy.testing")
PLAIN = (".csv", ".tsv", ".txt", ".gz", ".parquet")  # files that are read and written without pandas
PRIVATE = ("load_overload", "save_overload", "_load_overload", "_guard_against_spurious_io_errors")  # of numba's cache
MADE: list[str] = []  # kernels that this process compiled, for none was kept


def compiled(**options: Any) -> Callable[[F], F]:
    """`numba.njit(cache=True, ...)`, but a kept kernel is loaded without the half second that numba takes to be ready
    to compile: it reads its tables of functions when something has to be compiled (`Cache.load_overload`).
    """  # noqa: D205
    from numba import njit

    def wrap(function: F) -> F:
        kernel = njit(cache=True, **options)(function)
        try:
            from numba.core.caching import FunctionCache
            from numba.core.runtime import rtsys
        except ImportError:  # what stands in for numba in a browser, or a numba that has moved its private parts
            return kernel  # type: ignore[no-any-return]
        if not all(hasattr(FunctionCache, name) for name in PRIVATE) or not hasattr(kernel, "_cache"):
            return kernel  # type: ignore[no-any-return]

        class KeptKernel(FunctionCache):  # type: ignore[misc]
            def load_overload(self, signature: Any, context: Any) -> Any:
                rtsys.initialize(context)
                with self._guard_against_spurious_io_errors():
                    return self._load_overload(signature, context)

            def save_overload(self, signature: Any, data: Any) -> None:
                MADE.append(function.__name__)
                super().save_overload(signature, data)

        kernel._cache = KeptKernel(function)
        return kernel  # type: ignore[no-any-return]

    return wrap


def face(package: str, table: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """`__getattr__` and `__dir__` of a room: names of its modules, each loaded when it is asked for.

    Args:
        package: name of the package, such as "dpsyn_core.schema".
        table: one line a module, "codec: Codec decode"; type checkers read the same from a stub (`tools/faces.py`).
    """
    lines = (line.split(":") for line in table.split("\n") if line.strip())
    places = {name: f"{package}.{module.strip()}" for module, names in lines for name in names.split()}

    def load(name: str) -> Any:
        if name not in places:
            msg = f"module '{package}' has no attribute '{name}'"
            raise AttributeError(msg)
        module = importlib.import_module(places[name])
        if not hasattr(module, name):  # the name of a module in a folder of the room
            return importlib.import_module(f"{places[name]}.{name}")
        return getattr(module, name)  # asked for each time, so that a name replaced in its module counts

    return load, lambda: sorted(places)


def load_little(*files: str) -> None:
    """Loads what is unused at its first use, and pandas not at all where all files are plain ones.

    For processes started by this program alone: to pyarrow, pandas is then not installed for as long as the process
    lives.
    """
    for name in UNUSED:
        _at_first_use(name)
    if all(PurePath(f).suffix.lower() in PLAIN for f in files):
        _without_pandas()


def _at_first_use(name: str) -> None:
    """Loads a module when something of it is used; nothing happens where it is missing or loaded."""
    if name in sys.modules:
        return
    above, _, last = name.rpartition(".")
    parent = importlib.import_module(above) if above else None
    spec = importlib.util.find_spec(name)
    if spec is None or spec.loader is None:
        return
    spec.loader = importlib.util.LazyLoader(spec.loader)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    if parent is not None:
        setattr(parent, last, module)


class _Hidden:
    """A finder that says that pandas is not installed."""

    @staticmethod
    def find_spec(name: str, *_: object) -> None:
        if name == "pandas":
            raise ModuleNotFoundError(name)


def _without_pandas() -> None:
    """Pyarrow looks for pandas once, at the first array that it makes, to tell whether it is given a frame."""
    if "pandas" in sys.modules:
        return
    import pyarrow as pa

    sys.meta_path.insert(0, _Hidden)
    try:
        pa.array([0])
    finally:
        sys.meta_path.remove(_Hidden)
