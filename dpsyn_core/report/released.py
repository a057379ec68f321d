"""Released marginals as a file: what a run measured, to make the report that is safe to publish."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from dpsyn_core.errors import TableError
from dpsyn_core.files import write_bytes
from dpsyn_core.marginals.types import Measurement
from dpsyn_core.schema.domain import Domain

VERSION = 1
LIMIT = 1 << 30  # characters after inflating


def dump_measurements(path: Path, measurements: Sequence[Measurement]) -> None:
    """Writes measurements as gzipped JSON, atomically. They are released values: safe to publish."""
    write_bytes(path, pack_measurements(measurements))


def pack_measurements(measurements: Sequence[Measurement]) -> bytes:
    """The bytes of the file that `dump_measurements` writes."""
    entries = [
        {
            "attributes": list(m.attributes),
            "sigma": m.sigma,
            "shape": list(m.values.shape),
            "values": m.values.reshape(-1).tolist(),
            "recodes": {name: np.asarray(r).tolist() for name, r in m.recodes.items()},
        }
        for m in measurements
    ]
    text = json.dumps({"version": VERSION, "measurements": entries}, allow_nan=False)
    return gzip.compress(text.encode(), mtime=0)


def load_measurements(path: Path, domain: Domain) -> list[Measurement]:
    """Reads what `dump_measurements` wrote. Raises TableError when it is something else or does not fit the domain."""
    try:
        with gzip.open(path, "rb") as packed:
            document = json.loads(packed.read(LIMIT))
        return [_measurement(entry, domain) for entry in document["measurements"]]
    except (OSError, EOFError, zlib.error, ValueError, KeyError, TypeError) as error:
        msg = f"'{path.name}' does not hold released marginals of this schema; give the file that the run wrote"
        raise TableError(msg) from error


def _measurement(entry: dict[str, Any], domain: Domain) -> Measurement:
    names = tuple(entry["attributes"])
    recodes = {n: np.asarray(r, dtype=np.intp) for n, r in entry["recodes"].items()}
    values = np.asarray(entry["values"], dtype=np.float64).reshape(entry["shape"])
    wanted = tuple(int(recodes[n].max()) + 1 if n in recodes else domain[n].size for n in names)
    fits = names == domain.ordered_set(names) and values.shape == wanted
    if not (fits and np.isfinite(values).all() and np.isfinite(entry["sigma"]) and entry["sigma"] >= 0):
        msg = "a marginal does not fit"
        raise ValueError(msg)
    return Measurement(attributes=names, values=values, sigma=float(entry["sigma"]), recodes=recodes)
