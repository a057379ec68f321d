"""What a process that makes one release need not load: parts of libraries that only their importing asks for."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from pathlib import PurePath

# scipy looks at every name of numpy, and so imports these; numba imports a reader of settings that nobody wrote
UNUSED = ("numpy.f2py", "numpy.testing", "yaml")
PLAIN = (".csv", ".tsv", ".txt", ".gz", ".parquet")  # files that are read and written without pandas


def load_little(*files: str) -> None:
    """Loads what is unused at its first use, and pandas not at all where all files are plain ones.

    For processes of our own alone: to pyarrow, pandas is then not installed for as long as the process lives.
    """
    for name in UNUSED:
        _at_first_use(name)
    if all(PurePath(f).suffix.lower() in PLAIN for f in files):
        _without_pandas()


def _at_first_use(name: str) -> None:
    """Loads a module when something of it is used; nothing happens where it is missing or loaded."""
    if name in sys.modules:
        return
    above, _, own = name.rpartition(".")
    parent = importlib.import_module(above) if above else None
    spec = importlib.util.find_spec(name)
    if spec is None or spec.loader is None:
        return
    spec.loader = importlib.util.LazyLoader(spec.loader)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    if parent is not None:
        setattr(parent, own, module)


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
