"""Parts of a table, synthesized separately and joined on the attributes that they share."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from dpsyn_core.marginals.types import Measurement
from dpsyn_core.progress import Progress, silent
from dpsyn_core.records.join import match_within
from dpsyn_core.records.settings import UpdateSettings
from dpsyn_core.schema.domain import Domain


def join_parts(
    tables: Sequence[Measurement],
    domain: Domain,
    parts: Sequence[Sequence[str]],
    n: int,
    settings: UpdateSettings,
    *,
    rng: Generator,
    progress: Progress = silent,
) -> NDArray[np.unsignedinteger]:
    """Codes (n_attributes, n): each part follows the tables inside it; parts meet on the attributes they share.

    Attributes of a part that no table connects are made separately and joined at random, as parts that share nothing.
    Records of two parts are put together within each combination of the shared attributes, as far as both have
    that many of it, and at random beyond that or where they share nothing. The earlier part's value is kept.

    Args:
        tables: consistent, over attributes of `domain`.
        domain: working attributes.
        parts: together they hold every attribute.
        n: number of records.
        settings: of the record updates.
        rng: post-processing randomness.
        progress: reports the updates.
    """
    from dpsyn_core.records.fit import fit_records  # numba is heavy

    dtype = np.min_scalar_type(max(domain.sizes, default=1) - 1)
    codes = np.zeros((len(domain), n), dtype=dtype)
    done: list[str] = []
    for part in parts:
        sub = domain.project(part)
        inside = [m for m in tables if m.attributes and set(m.attributes) <= set(part)]
        made = fit_records(inside, sub, n, settings, separate=True, append=True, rng=rng, progress=progress)
        shared = [a for a in sub.names if a in done]
        new = [a for a in sub.names if a not in done]
        if shared:
            have = _key(codes[[domain.index(a) for a in shared]])
            give = _key(made[[sub.index(a) for a in shared]])
            _, keys = np.unique(np.concatenate([have, give], axis=1), axis=1, return_inverse=True)
            made = made[:, match_within(keys[:n], keys[n:], rng=rng)]
        codes[[domain.index(a) for a in new]] = made[[sub.index(a) for a in new]]
        done += new
    return codes


def _key(rows: NDArray[np.unsignedinteger]) -> NDArray[np.int64]:
    return rows.astype(np.int64)
