"""Released marginals as a file: what a run measured, to make the report that is safe to publish."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dpsyn_core.errors import TableError
from dpsyn_core.files import write_bytes
from dpsyn_core.marginals.types import Measurement, Scores
from dpsyn_core.schema.document import Schema
from dpsyn_core.schema.domain import Domain

VERSION = 1
LIMIT = 1 << 30  # characters after inflating


def dump_measurements(path: Path, measurements: Sequence[Measurement]) -> None:
    """Writes measurements as gzipped JSON, atomically. They are released values: safe to publish."""
    write_bytes(path, pack_measurements(measurements))


def pack_measurements(
    measurements: Sequence[Measurement], *, schema: Schema | None = None, scores: Scores | None = None
) -> bytes:
    """The bytes of the file that `dump_measurements` writes.

    Args:
        measurements: the released marginals.
        schema: that of the run, so that the file can be read without it; it is public.
        scores: released dependences of attribute sets, which say how far off unmeasured ones may be.
    """
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
    document: dict[str, Any] = {"version": VERSION, "measurements": entries}
    if schema is not None:
        document["schema"] = schema.dumps()
    if scores is not None:
        document["scores"] = {
            "sets": [list(s) for s in scores.sets], "values": [float(v) for v in scores.values], "sigma": scores.sigma
        }  # fmt: skip
    return gzip.compress(json.dumps(document, allow_nan=False).encode(), mtime=0)


@dataclass(frozen=True, kw_only=True, slots=True)
class ReleasedFile:
    """What a file of released marginals holds. scores: None where it was written without."""

    measurements: list[Measurement]
    schema: Schema
    scores: Scores | None


def load_released(path: Path, schema: Schema | None = None) -> ReleasedFile:
    """Reads a whole file of released marginals.

    Args:
        path: of the file.
        schema: of the run; None takes the one in the file.

    Raises:
        TableError: it is something else, does not fit the schema, or names none and none is given.
    """
    document = _read(path)
    stated = document.get("schema")
    known = Schema.loads(stated) if schema is None and isinstance(stated, str) else schema
    if known is None:
        msg = f"'{path.name}' was written by an earlier version, without its schema; name the schema of the run too"
        raise TableError(msg)
    if isinstance(stated, str) and Schema.loads(stated).dumps() != known.dumps():
        msg = f"'{path.name}' was released with another schema than the one that is named; name the schema of the run"
        raise TableError(msg)
    domain = known.domain()
    try:
        found = [_measurement(entry, domain) for entry in document["measurements"]]
        scores = None if document.get("scores") is None else _scores(document["scores"], domain)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise _unfit(path) from error
    return ReleasedFile(measurements=found, schema=known, scores=scores)


def load_measurements(path: Path, domain: Domain) -> list[Measurement]:
    """Reads what `dump_measurements` wrote. Raises TableError when it is something else or does not fit the domain."""
    document = _read(path)
    try:
        return [_measurement(entry, domain) for entry in document["measurements"]]
    except (ValueError, KeyError, TypeError) as error:
        raise _unfit(path) from error


def _read(path: Path) -> dict[str, Any]:
    try:
        with gzip.open(path, "rb") as packed:
            document = json.loads(packed.read(LIMIT))
    except (OSError, EOFError, zlib.error, ValueError, RecursionError) as error:
        raise _unfit(path) from error
    if not isinstance(document, dict):
        raise _unfit(path)
    return document


def _unfit(path: Path) -> TableError:
    msg = f"'{path.name}' does not hold released marginals of this schema; give the file that the run wrote"
    return TableError(msg)


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


def _scores(entry: dict[str, Any], domain: Domain) -> Scores:
    sets = tuple(tuple(str(n) for n in names) for names in entry["sets"])
    values = np.asarray(entry["values"], dtype=np.float64)
    sigma = float(entry["sigma"])
    fits = all(s == domain.ordered_set(s) for s in sets) and values.shape == (len(sets),)
    if not (fits and np.isfinite(values).all() and np.isfinite(sigma) and sigma >= 0):
        msg = "scores do not fit"
        raise ValueError(msg)
    return Scores(sets=sets, values=values, sigma=sigma)
