"""Seeded bugs of whole releases: from the raw table to the files, for T1 and T2 on a release."""

from types import SimpleNamespace

import numpy as np

from dpsyn_core.measure import discovery as discover
from dpsyn_core.measure.sources import bounding, memory
from dpsyn_core.privacy.ledger.ledger import Ledger
from dpsyn_core.privacy.manifest.manifest import Manifest
from dpsyn_core.schema.codec import Codec
from dpsyn_core.schema.document import TableSchema
from dpsyn_core.systems.independent import Independent
from tests.audit import bought, whole
from tests.audit.mutants.base import mutant, replacing


@mutant("the output has exactly as many records as the table", "T1 whole", whole.t1_whole)
def exact_size():
    measure, synthesize = Independent.measure, Independent.synthesize

    def keep(self, counter, **kwargs):
        self.n = int(counter.marginal(()))
        return measure(self, counter, **kwargs)

    def sized(self, measured, n, **kwargs):
        return synthesize(self, measured, self.n, **kwargs)

    with replacing((Independent, "measure", keep), (Independent, "synthesize", sized)):
        yield


@mutant("the domain is cut to the values that occur", "T1 whole", whole.t1_whole)
def domain_from_data():
    encode, decode, seen = Codec.encode, Codec.decode, {}

    def keep(self, table, **kwargs):
        out = encode(self, table, **kwargs)
        seen["values"] = [np.unique(column) for column in out.codes]
        return out

    def cut(self, codes, **kwargs):
        known = [np.where(np.isin(c, v), c, v[0]) for c, v in zip(codes, seen["values"], strict=True)]
        return decode(self, np.stack(known).astype(codes.dtype), **kwargs)

    with replacing((Codec, "encode", keep), (Codec, "decode", cut)):
        yield


@mutant("all records of an individual are kept", "T2 whole", whole.t2_whole)
def no_bounding():
    with replacing((memory, "_bounded", lambda encoded, theta: encoded.codes)):
        yield


@mutant("which records are kept depends on their place in the file", "T2 whole", whole.t2_whole)
def bounding_by_place():
    def hashes(encoded, key):
        place = np.arange(encoded.n_records, dtype=np.uint64)
        return (place * np.uint64(0x9E3779B97F4A7C15)) ^ (place << np.uint64(7))

    with replacing((bounding, "record_hashes", hashes)):
        yield


@mutant("the ledger is debited when the run is over", "T2 whole", whole.t2_crash)
def late_ledger():
    with replacing((Ledger, "reserve", lambda self, *a, **k: SimpleNamespace(chain=None))):
        yield


@mutant("the NOT PRIVATE stamp is lost", "T2 whole", whole.stamp)
def lost_stamp():
    with replacing((TableSchema, "reasons", ())):
        yield


@mutant("the identifier is written out", "T2 whole", whole.stamp)
def identifier_out():
    import pyarrow as pa

    real = Codec.decode

    def decode(self, codes, **kwargs):
        out = real(self, codes, **kwargs)
        return out.append_column("who", pa.array(["p1"] * out.num_rows))

    with replacing((Codec, "decode", decode)):
        yield


@mutant("no more records come out than went in", "T1 whole", whole.t1_whole)
def capped_size():
    measure, synthesize = Independent.measure, Independent.synthesize

    def keep(self, counter, **kwargs):
        self.n = int(counter.marginal(()))
        return measure(self, counter, **kwargs)

    def capped(self, measured, n, **kwargs):
        out = synthesize(self, measured, n, **kwargs)
        return out[:, : self.n]

    with replacing((Independent, "measure", keep), (Independent, "synthesize", capped)):
        yield


@mutant("column types are those of the private table", "T1 whole", whole.t1_whole)
def private_types():
    real = memory.from_arrow

    def typed(table, like):
        out = real(table, like)
        if not hasattr(like, "dtypes"):
            return out
        return out.astype({n: "Float64" for n in out.columns if str(like.dtypes[n]) == "float64"})  # as of a blank

    with replacing((memory, "from_arrow", typed)):
        yield


@mutant("rows come out in the order of the private table", "T1 whole", whole.t1_whole)
def private_order():
    encode, decode, seen = Codec.encode, Codec.decode, {}

    def keep(self, table, **kwargs):
        out = encode(self, table, **kwargs)
        seen["city"] = out.codes[0]
        return out

    def ordered(self, codes, **kwargs):
        like = np.resize(seen["city"], codes.shape[1])
        first = codes[:, np.argsort(codes[0], kind="stable")]
        return decode(self, first[:, np.argsort(np.argsort(like, kind="stable"))], **kwargs)

    with replacing((Codec, "encode", keep), (Codec, "decode", ordered)):
        yield


@mutant("the manifest has fewer charges for a small table", "T1 whole", whole.t1_whole)
def shorter_manifest():
    measure, build, seen = Independent.measure, Manifest.build, {}

    def keep(self, counter, **kwargs):
        seen["small"] = int(counter.marginal(())) < 30
        return measure(self, counter, **kwargs)

    def short(*, charges, **kwargs):
        return build(charges=charges[1:] if seen["small"] else charges, **kwargs)

    with replacing((Independent, "measure", keep), (Manifest, "build", short)):
        yield


@mutant("a bought range is read off the table", "T1 whole", bought.t1_bought)
def free_range():
    real = discover.buy_range

    def exact(values, *args, **kwargs):
        span = real(values, *args, **kwargs)
        return span._replace(low=int(values.min()), high=int(values.max()) + 9) if values.size else span

    with replacing((discover, "buy_range", exact)):
        yield


@mutant("a purchase looks at all records of an individual", "T2 whole", bought.t2_bought)
def unbounded_purchase():
    with replacing((discover, "bounded", lambda table, unit: table)):
        yield


@mutant("bought categories are counted by records", "T2 whole", bought.t2_bought)
def nameless_counts():
    real = discover.distinct_counts

    def records(texts, name, unit):
        return real(texts, name, unit.model_copy(update={"identifier": None}))

    with replacing((discover, "distinct_counts", records)):
        yield
