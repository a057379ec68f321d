"""Seeded privacy bugs, applied one at a time; each names the layer that catches it."""

from tests.audit.mutants import batteries, charges, encoding, followers, noise, paths, sources, sums, wholes  # noqa: F401  (they register their bugs)
from tests.audit.mutants.base import MUTANTS

MUTANTS.sort(key=lambda bug: bug.layer)
__all__ = ["MUTANTS"]
