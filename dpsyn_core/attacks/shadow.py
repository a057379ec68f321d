"""One shadow run: tosses the coins, runs the attacked system whole on the table they make, and attacks its release.

The run opens its budget on a ledger of its own in a folder that is removed at once: nothing is booked for the owner's
table, and nothing that comes out may be published.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.random import Generator

from dpsyn_core.attacks import people
from dpsyn_core.attacks.membership import Probe
from dpsyn_core.attacks.outcome import Outcome
from dpsyn_core.attacks.spec import AttackSpec
from dpsyn_core.attacks.world import World, WorldSource
from dpsyn_core.privacy.ledger import Ledger
from dpsyn_core.runs.measured import measure
from dpsyn_core.runs.release import in_memory
from dpsyn_core.runs.spec import RunSpec
from dpsyn_core.schema.document import Schema


class Shadow:
    """Makes shadow runs of one attack."""

    def __init__(self, world: World, schema: Schema, spec: AttackSpec) -> None:
        """Keeps the world; prepares the cells that membership looks at."""
        self.world, self.schema, self.spec = world, schema, spec
        self.domain = schema.domain()
        self.probe = Probe(world, self.domain) if spec.kind == "membership" else None
        # every shadow run draws its own seed, and writes as many synthetic records for each real one as the run does
        shadow: dict[str, Any] = {"seed": None, "dataset": "shadow run"}
        if spec.n_records is not None:
            shadow["n_records"] = max(1, round(spec.n_records * world.usual / max(1, world.table_records)))
        self._run: RunSpec = spec.model_copy(update=shadow)

    def run(self, rng: Generator) -> Outcome:
        """One run and the attack on it. Raises InputError where the run is refused."""
        spec, tossed = self.spec, rng.random(self.world.coins) < 0.5
        with tempfile.TemporaryDirectory(prefix="dpsyn-attack-") as folder:
            ledger = Ledger(Path(folder) / "ledger.sqlite3")
            release = in_memory(measure(WorldSource(self.world, tossed), self.schema, self._run, ledger=ledger))
        codes = np.asarray(release.codes)
        if self.probe is None:
            return people.attack(self.world, self.domain, tossed, codes, spec, rng)
        return Outcome(
            coins=tossed, counts=self.probe.counts(codes), scores=self.probe.beliefs(release.marginals)
        )  # fmt: skip
