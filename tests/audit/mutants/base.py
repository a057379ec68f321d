"""A seeded bug: what it does, how it is planted, and which layer must raise the alarm."""

from collections.abc import Callable
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from unittest import mock


@dataclass(frozen=True)
class Mutant:
    """A bug: what it does, which layer must raise the alarm, how it is planted, how that layer is run."""

    name: str
    layer: str
    plant: Callable
    check: Callable


MUTANTS = []


def mutant(name, layer, check):
    """Registers a context manager that plants a bug."""

    def keep(plant):
        MUTANTS.append(Mutant(name, layer, contextmanager(plant), check))
        return plant

    return keep


@contextmanager
def replacing(*triples):
    """All of (object, attribute, replacement) at once."""
    with ExitStack() as stack:
        for target, attribute, value in triples:
            stack.enter_context(mock.patch.object(target, attribute, value))
        yield
