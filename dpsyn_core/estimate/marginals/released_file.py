"""Released marginals as a file: what a run measured, to make the report that is safe to publish."""

from __future__ import annotations

import gzip
import io
import json
import math
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.errors import SizeError, TableError
from dpsyn_core.estimate.marginals.coarsening import Coarsening, Recodes, coarse_shape
from dpsyn_core.estimate.marginals.types import (
    Follower,
    JointAxis,
    JointTable,
    Law,
    MeanTable,
    Measurement,
    ReleasedTables,
    Scores,
    Together,
)
from dpsyn_core.files import fields_once, write_bytes
from dpsyn_core.schema import Domain, Schema

VERSION = 2  # of one table; 1 named no law of noise, and knew neither tables that share their noise nor joint ones
MOST_VERSION = 3  # of linked tables, which are read by `runs.trees.release_file`
LIMIT = 1 << 30  # characters after inflating
MOST, LEAST = 1e30, 1e-30  # records that a count or its noise may state: far beyond any, and their squares are numbers
MOST_NUMBERS = 60_000_000  # in one file: each takes 32 bytes while it is read, and a table of all pairs has 50 million


def dump_measurements(path: Path, measurements: Sequence[Measurement]) -> None:
    """Writes measurements as gzipped JSON, atomically. They are released values: safe to publish."""
    write_bytes(path, pack_measurements(measurements))


def pack_measurements(measurements: Sequence[Measurement], *, schema: Schema | None = None) -> bytes:
    """The bytes of the file that `dump_measurements` writes.

    Values and sigma are numbers of records: counts with noise, and the standard deviation of the noise of one.

    Args:
        measurements: the released marginals; `ReleasedTables` bring their scores and joint tables.
        schema: that of the run, so that the file can be read without it; it is public.
    """
    document = {"version": VERSION, "unit": "records", **table_entries(measurements)}
    scores = document.pop("scores", None)
    if schema is not None:
        document["schema"] = schema.dumps()
    return packed_document(document | ({} if scores is None else {"scores": scores}))


def packed_document(document: dict[str, Any]) -> bytes:
    """A document as gzipped JSON."""
    return gzip.compress(json.dumps(document, allow_nan=False).encode(), mtime=0)


def table_entries(measurements: Sequence[Measurement]) -> dict[str, Any]:
    """Released tables as JSON values, with joint ones and scores where there are some."""
    document: dict[str, Any] = {
        "measurements": [
            {
                "attributes": list(m.attributes),
                **_noisy(m),
                **({"shared": m.shared} if m.shared else {}),
                "recodes": _written(m.recodes),
            }
            for m in measurements
        ]
    }
    joint = measurements.joint if isinstance(measurements, ReleasedTables) else ()
    if joint:
        document["joint"] = [
            {
                "axes": [
                    {
                        "attributes": list(a.attributes),
                        "recode": a.recode.map.tolist(),
                        **({"recodes": _written(a.recodes)} if a.recodes else {}),
                    }
                    for a in m.axes
                ],
                **_noisy(m),
            }
            for m in joint
        ]
    sums = measurements.sums if isinstance(measurements, ReleasedTables) else ()
    if sums:
        from dpsyn_core.estimate.marginals.model_sums import packed_sum

        document["sums"] = [packed_sum(s) for s in sums]
    if isinstance(measurements, ReleasedTables) and (measurements.followers or measurements.together):
        document["followers"] = [
            {"name": f.name, "of": f.of, "exceptions": f.exceptions} for f in measurements.followers
        ]
        document["together"] = [{n: list(codes) for n, codes in t.codes.items()} for t in measurements.together]
    means = measurements.means if isinstance(measurements, ReleasedTables) else ()
    if means:
        document["means"] = [
            {"pairs": [list(p) for p in m.pairs], **_noisy(m), "recodes": _written(m.recodes)} for m in means
        ]
    scores = measurements.scores if isinstance(measurements, ReleasedTables) else None
    if scores is not None:
        document["scores"] = {
            "sets": [list(s) for s in scores.sets],
            "values": [float(v) for v in scores.values],
            "sigma": scores.sigma,
        }
    return document


def _written(recodes: Recodes) -> dict[str, list[int]]:
    return {name: r.map.tolist() for name, r in recodes.items()}


def _noisy(m: Measurement | JointTable | MeanTable) -> dict[str, Any]:
    return {"law": m.law, "sigma": m.sigma, "shape": list(m.values.shape), "values": m.values.reshape(-1).tolist()}


@dataclass(frozen=True, kw_only=True, slots=True)
class ReleasedFile:
    """What a file of released marginals holds: tables with their scores, and the schema of the run."""

    measurements: ReleasedTables
    schema: Schema


def load_released(path: Path, schema: Schema | None = None) -> ReleasedFile:
    """Reads a whole file of released marginals; see `read_released`."""
    return read_released(_content(path), path.name, schema)


def read_released(content: bytes, name: str, schema: Schema | None = None) -> ReleasedFile:
    """Reads the content of a file of released marginals.

    Args:
        content: of the file.
        name: of the file, for messages.
        schema: of the run; None takes the one in the file.

    Raises:
        TableError: it is something else, does not fit the schema, or names none and none is given.
        SizeError: it holds more than is read.
    """
    document = parsed_document(content, name)
    if "views" in document:
        msg = f"'{name}' holds what was released of linked tables, in weights of roots, not tables of records"
        raise TableError(msg)
    stated = document.get("schema")
    public = Schema.loads(stated) if schema is None and isinstance(stated, str) else schema
    if public is None:
        msg = f"'{name}' was written by an earlier version, without its schema; name the schema of the run too"
        raise TableError(msg)
    if isinstance(stated, str) and Schema.loads(stated).dumps() != public.dumps():
        msg = f"'{name}' was released with another schema than the one that is named; name the schema of the run"
        raise TableError(msg)
    from dpsyn_core.schema import with_spans  # not loaded by a run that only writes

    return ReleasedFile(measurements=parsed_tables(document, with_spans(public).domain(), name), schema=public)


def load_measurements(path: Path, domain: Domain) -> ReleasedTables:
    """Reads what `dump_measurements` wrote. Raises TableError when it is something else or does not fit the domain."""
    return parsed_tables(parsed_document(_content(path), path.name), domain, path.name)


def parsed_tables(document: dict[str, Any], domain: Domain, name: str) -> ReleasedTables:
    """The tables, joint tables and scores of a document. name: of the file, for messages. Raises TableError."""
    try:
        tables = ReleasedTables(_measurement(entry, domain) for entry in document["measurements"])
        tables.scores = None if document.get("scores") is None else _scores(document["scores"], domain)
        tables.joint = tuple(_joint(entry, domain) for entry in document.get("joint", ()))
        if "sums" in document:
            from dpsyn_core.estimate.marginals.model_sums import parsed_sum

            tables.sums = tuple(parsed_sum(entry, domain) for entry in document["sums"])
        tables.followers = _followers(document.get("followers", ()), tables, domain)
        tables.together = tuple(_together(entry, domain) for entry in document.get("together", ()))
        tables.means = tuple(_mean(entry, domain) for entry in document.get("means", ()))
    except (ValueError, KeyError, TypeError, AttributeError, IndexError, OverflowError) as error:
        raise _unfit(name) from error
    return tables


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        msg = f"cannot read '{path.name}': {error.strerror}; give the file of released marginals that the run wrote"
        raise TableError(msg) from error


def parsed_document(content: bytes, name: str) -> dict[str, Any]:
    """What a file of released marginals says, whose tables are still unread. Raises TableError, SizeError."""
    try:
        with gzip.open(io.BytesIO(content), "rb") as packed:
            text = packed.read(LIMIT + 1)
        if len(text) > LIMIT or text.count(b",") > MOST_NUMBERS:
            msg = f"'{name}' holds more than {LIMIT >> 20} MB or {MOST_NUMBERS:,} numbers; no run writes that many"
            raise SizeError(msg)
        document = json.loads(text, object_pairs_hook=fields_once)
    except SizeError:
        raise
    except (OSError, EOFError, zlib.error, ValueError, RecursionError) as error:
        raise _unfit(name) from error
    if not isinstance(document, dict):
        raise _unfit(name)
    version = document.get("version", 1)
    if not isinstance(version, int) or version > MOST_VERSION:
        msg = (
            f"'{name}' was written by a later version, in a form that this one does not know; use that version, "
            "or a later one"
        )
        raise TableError(msg)
    return document


def _unfit(name: str) -> TableError:
    msg = f"'{name}' does not hold released marginals of this schema; give the file that the run wrote"
    return TableError(msg)


def _measurement(entry: dict[str, Any], domain: Domain) -> Measurement:
    names = tuple(entry["attributes"])
    recodes = parsed_recodes(entry["recodes"], domain)
    values, sigma, law = _values(entry)
    shape = coarse_shape(domain, names, recodes)
    shared = entry.get("shared", "")
    if not (names == domain.ordered_set(names) and values.shape == shape and isinstance(shared, str)):
        msg = "a marginal does not fit"
        raise ValueError(msg)
    return Measurement(attributes=names, values=values, sigma=sigma, recodes=recodes, law=law, shared=shared)


def _followers(entries: Sequence[dict[str, Any]], found: ReleasedTables, domain: Domain) -> tuple[Follower, ...]:
    """What follows from what: each by a table of all values of both, one from one other, and none from itself."""
    out = tuple(Follower(name=e["name"], of=e["of"], exceptions=float(e["exceptions"])) for e in entries)
    whole = {m.attributes for m in found if not m.recodes}
    of = {f.name: f.of for f in out}
    fits = len(of) == len(out) and all(
        domain.ordered_set((f.name, f.of)) in whole and 0 <= f.exceptions <= 1 for f in out
    )
    for _ in out:  # a chain that does not end after so many steps goes in circles
        of = {name: of.get(above, "") for name, above in of.items()}
    if not fits or any(of.values()):
        msg = "what follows does not fit"
        raise ValueError(msg)
    return out


def _together(entry: dict[str, list[int]], domain: Domain) -> Together:
    """Values of two columns or more, of each some and not all."""
    codes = {n: tuple(int(c) for c in listed) for n, listed in entry.items()}
    if len(codes) < 2 or any(
        not 0 < len(set(c)) < domain[n].size or not 0 <= min(c) <= max(c) < domain[n].size for n, c in codes.items()
    ):
        msg = "values of columns together do not fit"
        raise ValueError(msg)
    return Together(codes=codes)


def _mean(entry: dict[str, Any], domain: Domain) -> MeanTable:
    """The mean of tables of one shape, of pairs that are named once each."""
    pairs = tuple((str(a), str(b)) for a, b in entry["pairs"])
    recodes = parsed_recodes(entry["recodes"], domain)
    values, sigma, law = _values(entry)
    sets = {domain.ordered_set(p) for p in pairs}
    shapes = {tuple(recodes[n].size if n in recodes else domain[n].size for n in p) for p in pairs}
    if shapes != {values.shape} or len(sets) < len(pairs) or any(len(s) != 2 for s in sets):
        msg = "a mean of marginals does not fit"
        raise ValueError(msg)
    return MeanTable(pairs=pairs, values=values, sigma=sigma, recodes=recodes, law=law)


def _coarsening(codes: list[int], size: int) -> Coarsening:
    bins = np.asarray(codes, dtype=np.intp)
    if bins.shape != (size,) or bins.min() < 0 or bins.max() >= size:
        msg = "a coarse map does not fit"
        raise ValueError(msg)
    return Coarsening.of(bins)


def _joint(entry: dict[str, Any], domain: Domain) -> JointTable:
    values, sigma, law = _values(entry)
    axes = tuple(_axis(a, domain) for a in entry["axes"])
    fits = all(
        a.attributes == domain.ordered_set(a.attributes) and a.recode.size == size and not a.recode.map.min()
        for a, size in zip(axes, values.shape, strict=True)
    )
    if not fits:
        msg = "a joint table does not fit"
        raise ValueError(msg)
    return JointTable(axes=axes, values=values, sigma=sigma, law=law)


def _axis(entry: dict[str, Any], domain: Domain) -> JointAxis:
    names = tuple(entry["attributes"])
    recodes = parsed_recodes(entry.get("recodes", {}), domain)
    cells = math.prod(coarse_shape(domain, names, recodes))
    return JointAxis(attributes=names, recode=_coarsening(entry["recode"], cells), recodes=recodes)


def parsed_recodes(entry: dict[str, list[int]], domain: Domain) -> Recodes:
    """How coarse attributes are, by their names. Raises ValueError."""
    return {n: _coarsening(r, domain[n].size) for n, r in entry.items()}


def _values(entry: dict[str, Any]) -> tuple[NDArray[np.float64], float, Law | None]:
    """Counts, the standard deviation of their noise, and its law."""
    values = np.asarray(entry["values"], dtype=np.float64).reshape(entry["shape"])
    sigma, law = float(entry["sigma"]), entry.get("law")
    if not (_stated(values, sigma) and (law is None or law in get_args(Law))):
        msg = "a table has no finite counts with known noise"
        raise ValueError(msg)
    return values, sigma, law


def _stated(values: NDArray[np.float64], sigma: float) -> bool:
    """Whether these are numbers that a run may write, squares of which are numbers too; 0 is no noise."""
    most = float(np.abs(values).max(initial=0.0))  # not a number where one of them is none
    return most <= MOST and (sigma == 0 or LEAST <= sigma <= MOST)


def _scores(entry: dict[str, Any], domain: Domain) -> Scores:
    sets = tuple(tuple(str(n) for n in names) for names in entry["sets"])
    values = np.asarray(entry["values"], dtype=np.float64)
    sigma = float(entry["sigma"])
    fits = all(s == domain.ordered_set(s) and len(s) == 2 for s in sets) and values.shape == (len(sets),)
    if not (fits and _stated(values, sigma)):
        msg = "scores do not fit"
        raise ValueError(msg)
    return Scores(sets=sets, values=values, sigma=sigma)
