"""A small table with skewed columns, its schema, and seeded bugs that an attack on releases can see."""

from contextlib import contextmanager

import numpy as np
import pyarrow as pa

from dpsyn_core.privacy.noise.system import SystemNoise
from dpsyn_core.runs.attacks.result import AttackSpec
from dpsyn_core.schema.document import Schema
from dpsyn_core.systems.independent import Independent
from tests.audit.mutants.base import replacing

SIZES = {"a": 2, "b": 3, "c": 4, "d": 6, "e": 8, "f": 10}


def schema(**unit):
    columns = [{"name": n, "kind": "categorical", "values": [str(i) for i in range(k)]} for n, k in SIZES.items()]
    return Schema.of({"version": 1, "name": "people", "attributes": columns, "unit": unit})


def table(n=240, seed=1):
    rng = np.random.default_rng(seed)
    return pa.table({name: [str(int(size * v**2)) for v in rng.random(n)] for name, size in SIZES.items()})


def spec(kind, runs, **more):
    given = {"epsilon": 1.0, "delta": 1e-9, "method": "independent", "workers": 0, **more}
    return AttackSpec(kind=kind, runs=runs, **given)


@contextmanager
def a_hundredth_of_the_noise():
    """The noise that is drawn has a hundredth of the scale that is charged."""
    real = SystemNoise.gaussian
    with replacing((SystemNoise, "gaussian", lambda self, sigma, size: real(self, sigma / 100, size))):
        yield


@contextmanager
def copied_records():
    """Synthetic records are those of the private table, as far as they reach."""
    measure, synthesize = Independent.measure, Independent.synthesize

    def keeping(self, counter, *, gate, **more):
        self.stolen = getattr(counter, "_codes", None)
        return measure(self, counter, gate=gate, **more)

    def copying(self, measured, n_records, *, rng, **more):
        out = synthesize(self, measured, n_records, rng=rng, **more)
        k = min(out.shape[1], self.stolen.shape[1])
        out[:, :k] = self.stolen[:, :k]
        return out

    with replacing((Independent, "measure", keeping), (Independent, "synthesize", copying)):
        yield
