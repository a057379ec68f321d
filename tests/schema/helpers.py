"""Short ways to write schemas and tables in tests."""

import pyarrow as pa

from dpsyn_core.schema.codec import Codec
from dpsyn_core.schema.document import Schema


def schema(*attributes, **more):
    return Schema.of({"version": 1, "name": "t", "attributes": list(attributes), **more})


def cat(name, values, **more):
    return {"name": name, "kind": "categorical", "values": values, **more}


def num(name, low, high, bins, dtype="integer", **more):
    bins = {"count": bins} if isinstance(bins, int) else {"edges": bins}
    return {"name": name, "kind": "numeric", "dtype": dtype, "min": low, "max": high, "bins": bins, **more}


def date(name, low, high, bins, **more):
    bins = {"count": bins} if isinstance(bins, int) else {"every": bins}
    return {"name": name, "kind": "datetime", "min": low, "max": high, "bins": bins, **more}


def encode_one(attribute, cells, strict=False):
    """Codes of a single column, of the records that are kept."""
    column = cells if isinstance(cells, pa.Array | pa.ChunkedArray) else pa.array(cells)
    return Codec(schema(attribute)).encode(pa.table({attribute["name"]: column}), strict=strict).codes[0].tolist()
