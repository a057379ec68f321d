"""The library torch (extra `deep`), which trains the networks; nothing else in the engine imports it."""

from __future__ import annotations

import importlib.util
from contextlib import AbstractContextManager
from typing import Any

from dpsyn_core.errors import MethodError

EXTRA = "deep"


def installed() -> bool:
    """Whether torch can be imported; imports nothing."""
    return importlib.util.find_spec("torch") is not None


def require_torch(method: str) -> None:
    """Raises MethodError when the library is not installed."""
    if not installed():
        msg = (
            f"{method} trains a network and needs the library torch: install dpsyn-studio[{EXTRA}] (in a clone: make "
            "deep), or use the method 'rls'"
        )
        raise MethodError(msg)


def device(name: str, method: str) -> Any:
    """The torch device of a setting: cpu or cuda. Raises MethodError where CUDA is asked for and not there."""
    require_torch(method)
    import torch

    there = torch.cuda.is_available()
    if name == "cuda" and not there:
        msg = f"device is 'cuda', and torch finds no CUDA device here; set device to 'cpu' for {method}"
        raise MethodError(msg)
    return torch.device("cuda" if name == "cuda" else "cpu")


def single_blas() -> AbstractContextManager[Any]:
    """One thread for NumPy's products of matrices, which stand between those of torch.

    Both libraries keep threads that wait for work by spinning, and take the cores from each other: on two cores a run
    on Adult takes about twice as long without this.
    """
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    limits: AbstractContextManager[Any] = threadpool_limits(limits=1, user_api="blas")
    return limits
