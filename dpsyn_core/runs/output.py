"""Output: from synthetic codes to a table; post-processing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from numpy.random import Generator

from dpsyn_core.records.copula import scores_in_bins
from dpsyn_core.schema.codec import Codec, Codes
from dpsyn_core.schema.document import Schema


def table_of(codes: Codes, schema: Schema, *, columns: Sequence[str], rng: Generator, listed: bool = False) -> Any:
    """A pyarrow table with the types that the schema declares.

    Args:
        codes: synthetic, (n_attributes, n_records).
        schema: public metadata.
        columns: names of the source's columns; those that come out keep their order.
        rng: for positions inside bins.
        listed: see `Codec.decode`.
    """
    codec = Codec(schema)
    scores = scores_in_bins(codes, codec.domain, rng=rng)
    return codec.decode(codes, rng=rng, order=columns, scores=scores, listed=listed)
