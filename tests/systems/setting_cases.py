"""For each setting of each system, a table and a value at which the setting must change the output.

A setting that `CASES` does not name is tried at values near its own on the plain table; most need no more.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args, get_origin

import numpy as np

from tests.systems.harness import random_codes


def chains():
    """Two chains of four attributes that have nothing to do with each other."""
    rng = np.random.default_rng(0)
    rows = []
    for i in range(8):
        fresh = np.minimum(rng.integers(0, 6, 1500), rng.integers(0, 6, 1500))
        rows.append(fresh if i % 4 == 0 else np.where(rng.random(1500) < 0.5, rows[-1], fresh))
    return {f"x{i}": 6 for i in range(8)}, np.array(rows, dtype=np.uint8)


def threes():
    """Three attributes of which only all together depend: the third is the sum of the others, 9 times in 10."""
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 2, (2, 3000))
    c = np.where(rng.random(3000) < 0.9, (a + b) % 2, rng.integers(0, 2, 3000))
    return {"a": 2, "b": 2, "c": 2}, np.array([a, b, c], dtype=np.uint8)


def plain(n=300, **sizes):
    sizes = sizes or {"a": 3, "b": 2, "c": 4, "d": 8}
    return sizes, random_codes(sizes, n)


TABLES = {
    "plain": plain,
    "many records": lambda: plain(3000),
    "rare values": lambda: plain(1000, a=30, b=2, c=4),
    "binary": lambda: plain(300, **dict.fromkeys("abcdefgh", 2)),
    "chains": chains,
    "threes": threes,
}


@dataclass(frozen=True, kw_only=True)
class Case:
    """Where a setting shows: what it is set to, beside which other settings, and on which of TABLES.

    refused: part of the sentence that refuses the value, for caps and for settings that are there to be said. marginal:
    attributes of the marginal that is read in place of records.
    """

    value: Any
    beside: Mapping[str, Any] = field(default_factory=dict)
    table: str = "plain"
    epsilon: float = 2.0
    refused: str = ""
    marginal: tuple[str, ...] = ()


TRAINED = {"steps": 4, "hidden": 4, "sampling": 0.3, "learning_rate": 0.5}
LATENT = TRAINED | {"latent": 2, "encoder_hidden": 3}
PHASED = TRAINED | {"iterations": 2, "components": 3, "parts": 2}
# the smallest settings under which a system still takes every step
SMALL: dict[str, Mapping[str, Any]] = {
    "mst": {"iterations": 50},
    "aim": {"rounds": 4, "iterations": 50, "round_iterations": 20},
    "mwem": {"replays": 5, "rounds": 3},
    "p3gm": PHASED,
    "p3gm-ae": PHASED,
    "dp-vae": LATENT,
    "dp-gm": LATENT | {"iterations": 2, "components": 3, "clusters": 2},
    "pgm": PHASED | {"not_private": True},
    "vae": LATENT | {"not_private": True},
}
EPSILON = dict.fromkeys(("p3gm", "p3gm-ae", "dp-vae", "dp-gm"), 100.0)  # of three hundred records the rest is noise

# of all systems that have a setting of this name
SHARED = {
    "update.decay": Case(value=0.5, beside={"update.decay_every": 1}),
    "update.decay_every": Case(value=1, beside={"update.decay": 0.5}),
    "update.decay_curve": Case(value="linear", beside={"update.decay": 0.5, "update.decay_every": 1}),
    "update.consistency_rounds": Case(value=30, table="chains", epsilon=1.0),
    "clip": Case(value=100.0),
    "values": Case(value=2),
    "target": Case(value="b"),
    "target_weight": Case(value=20, beside={"target": "b"}),
    "target_share": Case(value=0, beside={"target": "b"}),
    "device": Case(value="cuda", refused="finds no CUDA device"),
    "not_private": Case(value=False, refused="promises nothing"),
}
CASES = {
    ("rls", "one_way_share"): Case(value=0.6),
    ("rls", "resolution"): Case(value=2),
    ("rls", "triples"): Case(value=False, table="threes", epsilon=10.0),
    ("field-groups", "groups"): Case(value="a+c"),
    ("field-groups", "cut"): Case(value=20),
    ("dirichlet-multinomial", "tables"): Case(value="a+c"),
    ("dirichlet-multinomial", "exposures"): Case(value="d=1/1/1/1/1/1/1/9"),
    ("dirichlet-multinomial", "records"): Case(value=50),
    ("dirichlet-multinomial", "max_cells"): Case(value=5, refused="above max_cells 5"),
    ("dpsyn", "max_cells"): Case(value=5, refused="above the cap of 5"),
    ("privsyn", "update.nonnegativity"): Case(value="norm_cut", table="chains"),
    ("privsyn", "gap"): Case(value=1e6),
    ("privsyn", "append"): Case(value=False, beside={"gap": 300}, table="chains"),
    ("privsyn", "separate"): Case(value=False, table="chains"),
    ("mst", "engine"): Case(value="mbi"),
    ("mst", "max_model_size"): Case(value=1e-4, beside={"marginals": "a+d"}, refused="max_model_size"),
    ("mst", "max_cells"): Case(value=10),
    ("mst", "marginals"): Case(value="a+d, b+c"),
    ("mst", "heavy"): Case(value="a", beside={"marginals": "a+d, b+c"}),
    ("aim", "engine"): Case(value="mbi"),
    ("aim", "max_model_size"): Case(value=1e-4),
    ("aim", "max_cells"): Case(value=10),
    ("aim", "workload"): Case(value="a+d"),
    ("aim", "rounds"): Case(value=30),
    ("privbayes", "max_candidates"): Case(value=9, table="binary", epsilon=20.0),
    ("mwem", "workload"): Case(value="a+d"),
    ("mwem", "max_cells"): Case(value=5, refused="above max_cells 5"),
    ("priview", "view_size"): Case(value=2),
    ("priview", "queries"): Case(value="a+b, c+d", beside={"strategy": "direct"}),
    ("priview", "cover"): Case(value=3, beside={"view_size": 3}),
    ("priview", "choose"): Case(value=True, beside={"about": 1000, "view_size": 2}),
    ("priview", "about"): Case(value=10**9, beside={"choose": True, "about": 10}, table="chains"),
    ("priview", "view_count"): Case(value=5, beside={"strategy": "random", "view_size": 2}),
    ("priview", "view_seed"): Case(value=1, beside={"strategy": "random", "view_size": 2}),
    ("priview", "max_cells"): Case(value=5, refused="above the cap of 5"),
    ("priview", "reconstruction"): Case(value="least-norm", beside={"view_size": 2}, marginal=("a", "b", "c")),
    ("dpsyn-2018", "update.consistency_rounds"): Case(value=30, table="many records", epsilon=1.0),
    ("dpsyn-2018", "view_size"): Case(value=2),
    ("dpsyn-2018", "view_cells"): Case(value=4),
    ("dpsyn-2018", "view_seed"): Case(value=1, beside={"view_size": 2, "views": 2}),
    ("dpsyn-2018", "rare_share"): Case(value=0.3, table="rare values"),
    ("dpsyn-2018", "design"): Case(value={"groups": [{"name": "ac", "attributes": ["a", "c"]}]}),
    ("p3gm", "preset"): Case(value="paper-esr"),
    ("dp-gm", "target"): Case(value="b", beside={"divide": "target", "target": "a"}),
    ("dp-gm", "divide"): Case(value="target", beside={"target": "b"}),
}


def case_of(name, setting):
    """The case of a setting; None where values near its own do."""
    return CASES.get((name, setting)) or SHARED.get(setting)


def near(prop, now):
    """Values beside the one that a setting has now."""
    if isinstance(now, bool):
        return [not now]
    if get_origin(prop.annotation) is Literal:
        return [v for v in get_args(prop.annotation) if v != now]
    if isinstance(now, int):
        return [2 * now, now // 2, now + 1, now - 1, 0]
    return [2 * now, now / 2] if isinstance(now, float) else []


# of the design of dpsyn-2018: a part of the document, and the design beside which it is there and not there
SETS = [{"epsilon": 0, "sets": [["a", "b"], ["c", "d"]]}]
DESIGNS = {
    "groups": ([{"name": "ac", "attributes": ["a", "c"]}], {}),
    "patterns": ([{"name": "p", "attributes": ["a", "c"]}], {}),
    "bins": ([{"attribute": "d", "width": 2}], {}),
    "hierarchies": ([{"general": "b", "detailed": "a", "codes": [0, 1, 1]}], {}),
    "functional": ([{"target": "b", "source": "a"}], {}),
    "parts": ([["a", "b"], ["c", "d"]], {}),
    "marginals": (SETS, {}),
    "one_ways": (["a"], {"marginals": SETS}),
    "unmeasured": (["a"], {}),
    "budgets": ([{"epsilon": 1, "unmeasured": ["b"]}], {}),
}
# of one range of budgets, which changes what the design says
RANGES = {name: part for name, part in DESIGNS.items() if name not in ("marginals", "budgets")} | {
    "sets": ([["a", "d"]], {"marginals": SETS}),
}
