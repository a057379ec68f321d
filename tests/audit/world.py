"""Mini-worlds for audits: a small domain, arbitrary tables, neighbouring pairs, and small settings for any system."""

from dataclasses import dataclass
from typing import Literal, get_args, get_origin

import numpy as np

from dpsyn_core.estimate.marginals.coarsening import NO_RECODES, Coarsening
from dpsyn_core.estimate.marginals.model_sums import ModelDesign
from dpsyn_core.estimate.marginals.workload import Need, Workload
from dpsyn_core.measure.counting.memory import MemoryCounter
from dpsyn_core.privacy.budget import Budget
from dpsyn_core.privacy.unit import Unit
from dpsyn_core.schema.domain import CodedAttribute, Domain
from dpsyn_core.systems.base import Task
from dpsyn_core.systems.registry import config_class, names
from dpsyn_core.systems.settings import fields_of
from tests.audit.others import Discovery, Itemsets
from tests.audit.probe import Probe

DOMAIN = Domain(
    (
        CodedAttribute(name="a", size=3, ordered=True, group="g"),
        CodedAttribute(name="b", size=2, group="g"),
        CodedAttribute(name="c", size=4, ordered=True, special=1),  # code 3 is "missing"
        CodedAttribute(name="d", size=3),  # code 2 is rare
    )
)
N_PUBLIC = 12
DELTA = 1e-6

# settings that only cost time; set wherever a system has them, so that new systems are small without being named
SMALL = {
    "update.sweeps": 2,
    "update.polish": 1,
    "repeats": 1,
    "update.consistency_rounds": 2,
    "rounds": 3,
    "iterations": 20,
    "steps": 20,
    "passes": 1,
    "replays": 2,
    "round_iterations": 2,
}
# settings of named systems, beside the above
MINI = {
    "aim": {"rounds": 2},
    "dpsyn-2018": {"views": 4, "view_size": 2},
    "priview": {"about": 1000},  # for choosing views by the budget
    "privbayes": {"usefulness": 0.01},  # so that twelve records buy parents
    **{
        name: {"steps": 3, "hidden": 3, "sampling": 0.5, "iterations": 2, "encoder_hidden": 2, "latent": 2}
        for name in ("p3gm", "p3gm-ae", "dp-vae", "dp-gm")
    },
}

# settings that say what is measured: no choice or switch
TWO = (("a", "b"), ("b", "c"))
SPELT_OUT = {
    ("mst", "a list"): {"marginals": TWO, "heavy": (("a",),)},
    ("aim", "a workload"): {"workload": TWO},
    ("mwem", "a workload"): {"workload": TWO, "kind": "queries"},
    ("dirichlet-multinomial", "tables"): {"tables": (("a", "b"), ("c", "d"))},
    ("field-groups", "groups"): {"groups": (("a", "b", "c"), ("d",))},
    ("rls", "no triples and its own shares"): {"triples": False, "one_way_share": 0.3, "resolution": 2},
    ("rls", "pairs and triples"): {"one_way_share": 0.1},
    ("p3gm", "a head for the target"): {"target": "b"},
    ("dp-gm", "a network a value"): {"target": "b", "divide": "target"},
    ("dpsyn-2018", "a design"): {
        "design": {
            "bins": [{"attribute": "c", "width": 2}],
            "functional": [{"target": "d", "source": "a"}],
            "marginals": [{"epsilon": 0, "sets": [["a", "b"], ["b", "c"]]}],
        }
    },
    ("dpsyn-2018", "weights and members alone"): {
        "design": {
            "groups": [{"name": "g", "attributes": ["a", "b"]}],
            "marginals": [{"epsilon": 0, "sets": [["a", "c"], {"attributes": ["g", "d"], "weight": 2}]}],
            "one_ways": ["g"],
        }
    },
}

# what questions need, in every shape: public maps, values for a mean, values that are compared, a target, one column
ASKED = "declared questions"
MODEL = ModelDesign(
    name="a model", weight=1.0, outcome="b", y=5, logistic=True,
    lookups={"a": np.array([[0.0, 1], [1, 1], [2, 1]]), "c": np.array([[0.0, 1], [5, 1], [50, 1], [0, 0]]),
             "b": np.array([[0.0, 0, 1], [0, 1, 1]])},
    terms=(("intercept", ()), ("a", (0,)), ("c", (2,)), ("a:c", (0, 2))),
)  # fmt: skip
WORKLOAD = Workload(
    needs=(
        Need(
            attributes=("a", "b", "c"), weight=1.0, questions=("a gap",), maps={"b": Coarsening.of([1, 0])},
            means={"c": np.array([0.0, 5.0, 50.0, np.nan])}, whole=frozenset({"a"}),
        ),
        Need(attributes=("b", "d"), weight=0.5, questions=("a prediction",), whole=frozenset({"d"}), target="d"),
        Need(attributes=("a",), weight=2.0, questions=("a range",), maps={"a": Coarsening.of([0, 0, 1])}),
        Need(attributes=("c", "d"), weight=1.0, questions=("a table",)),
        Need(attributes=("a", "b"), weight=1.0, questions=("a model",), model=True),
    ),
    share=0.5,
    models=(MODEL,),
)  # fmt: skip

# epsilon of T1 and T2 where so few records would be told by one-ways alone, and no pair or triple would be measured
RICH = {"rls, pairs and triples": 100.0}

# T3's epsilon where 8 would leave noise far below one count, and nothing to see
WHITE = {"priview": 1.0}


def mini(name):
    """The smallest configuration of a system that still takes every step; 'mwem, kind=queries' sets one more."""
    name, _, flavour = name.partition(", ")
    cls = config_class(name)
    fields = fields_of(cls)
    small = dict(SPELT_OUT.get((name, flavour), {}))
    for key, value in (SMALL | MINI.get(name, {})).items():
        field = fields.get(key)
        if field is not None and (key in MINI.get(name, {}) or isinstance(field.default, int)):
            small[key] = value
    if flavour and flavour != ASKED and (name, flavour) not in SPELT_OUT:
        key, _, value = flavour.partition("=")
        small[key] = next(o for o in options(fields[key].annotation) if str(o) == value)
    return cls(**small)


def options(annotation):
    """What a setting may be, when it is a choice or a switch; nothing for numbers and sets."""
    return (True, False) if annotation is bool else get_args(annotation) if get_origin(annotation) is Literal else ()


def flavours():
    """Every system with each choice and each switch set to what is not its default: other ways to the data.

    The other engine of graphical models is left out: it is handed released values, and starts slowly. Fourier
    coefficients need a binary table; their own test holds them to their sensitivity. A network for each value of the
    target needs one, and is spelt out; another device may not be there.
    """
    chosen = [
        f"{name}, {key}={value}"
        for name in names()
        for key, field in fields_of(config_class(name)).items()
        for value in options(field.annotation)
        if value != field.default and key not in ("engine", "device") and value not in ("fourier", "target")
    ]
    asked = [f"{name}, {ASKED}" for name in names() if config_class(name).takes_questions]
    return [*chosen, *(f"{name}, {flavour}" for name, flavour in SPELT_OUT), *asked]


def table(rows):
    """Codes (4, n) from rows."""
    return np.ascontiguousarray(np.array(rows, dtype=np.uint8).reshape(-1, 4).T)


def random_table(n, seed):
    """Rows with dependence, any n."""
    rng = np.random.default_rng(seed)
    a = rng.integers(0, 3, n)
    rows = [a, np.minimum(a, rng.integers(0, 2, n)), np.minimum(rng.integers(0, 4, n), a + 1), rng.integers(0, 2, n)]
    return np.ascontiguousarray(np.array(rows, dtype=np.uint8).reshape(4, n))


# arbitrary tables, far from each other: nobody, one record, many, and a pile in one cell
ARBITRARY = [table([]), table([[2, 1, 3, 2]]), random_table(40, 1), np.repeat(table([[0, 1, 2, 0]]), 90, axis=1)]

BASE = [
    [0, 0, 0, 0], [0, 0, 1, 0], [0, 1, 1, 1], [1, 0, 0, 0], [1, 1, 2, 1], [1, 1, 1, 0],
    [2, 0, 2, 1], [2, 1, 2, 1], [2, 1, 0, 0], [0, 0, 0, 1], [1, 0, 2, 0], [2, 1, 1, 1],
]  # fmt: skip

# what the individual in question holds, and theta
CANARIES = {
    "empty cell": ([[2, 0, 0, 1]], 1),
    "rare category": ([[1, 1, 1, 2]], 1),
    "missing value": ([[0, 1, 3, 0]], 1),
    "theta-max individual": ([[2, 0, 3, 2]] * 3, 3),
}


@dataclass(frozen=True)
class Pair:
    """Two neighbouring tables."""

    name: str
    left: np.ndarray
    right: np.ndarray
    unit: Unit


def pairs(neighbours):
    """One pair a canary: it joins (add-remove), or takes the place of an ordinary individual (replace)."""
    out = []
    for name, (records, theta) in CANARIES.items():
        gone = [[0, 0, 1, 0]] * theta if neighbours == "replace" else []
        left, right = table(BASE[:-1] + gone), table(BASE[:-1] + records)
        out.append(Pair(name, left, right, Unit(neighbours=neighbours, max_records=theta)))
    return out


def served(name, found):
    """The pairs whose unit a system takes: some protect individuals of one record alone."""
    alone = name not in OWN and mini(name).guarantee.one_record
    return [p for p in found if p.unit.max_records == 1 or not alone]


def offers(name):
    """(neighbours, delta) of everything that a system promises."""
    g = OWN[name].guarantee if name in OWN else mini(name).guarantee
    deltas = ([0.0] if g.pure else []) + ([DELTA] if g.approximate else [])
    return [(n, d) for n in g.neighbours for d in deltas]


def main_offer(name):
    """The first kind of neighbours, with a delta where the system can use one: what sampling audits look at."""
    first = offers(name)[0][0]
    return [o for o in offers(name) if o[0] == first][-1]


def random_pairs(neighbours, count=20, seed=0):
    """Pairs at random, every other one of the public size: any table, any individual of one to three records."""
    rng = np.random.default_rng(seed)
    out = []
    for i in range(count):
        theta = int(rng.integers(1, 4))
        sizes = np.array(DOMAIN.sizes)
        n = N_PUBLIC - theta if i % 2 else int(rng.integers(0, 30))
        base = rng.integers(0, sizes, (n, 4)) * rng.integers(0, 2, 4)
        come = rng.integers(0, sizes, (theta, 4))
        come = come if rng.random() < 0.5 else come[:1].repeat(theta, 0)
        gone = rng.integers(0, sizes, (theta, 4)) if neighbours == "replace" else come[:0]
        left, right = np.concatenate([base, gone]), np.concatenate([base, come])
        unit = Unit(neighbours=neighbours, max_records=theta)
        out.append(Pair(f"random pair {i}", table(left), table(right), unit))
    return out


OWN = {"probe": Probe, "itemsets": Itemsets, "discovery": Discovery}


def systems():
    """Every registered system, and a probe that takes every way through the gate."""
    return [*names(), "probe"]


def accessors():
    """The systems, and the private ways that are none."""
    return [*systems(), "itemsets", "discovery"]


def calibrated(name, unit, *, epsilon=8.0, delta=DELTA):
    """A runnable mini-system."""
    if name in OWN:
        return OWN[name](Budget(epsilon=epsilon, delta=delta))
    config = mini(name)
    n_public = N_PUBLIC if config.guarantee.needs_public_n else None
    task = Task(
        domain=DOMAIN, unit=unit, budget=Budget(epsilon=epsilon, delta=delta), n_public=n_public,
        workload=WORKLOAD if name.endswith(ASKED) else None,
    )  # fmt: skip
    return config.calibrate(task)


class TwoSided:
    """A counter over two neighbouring tables that never change; `side` says which of them is read."""

    def __init__(self, left, right):
        self.domain = DOMAIN
        self.sides = (MemoryCounter(left, DOMAIN), MemoryCounter(right, DOMAIN))
        self.side = 0
        self.known = {}

    def marginal(self, attributes, recodes=NO_RECODES):
        used = {n: recodes[n] for n in attributes if n in recodes}
        key = (self.side, tuple(attributes), *((n, used[n]) for n in sorted(used)))
        if key not in self.known:
            self.known[key] = self.sides[self.side].marginal(attributes, used)
        return self.known[key].copy()

    def vector_sum(self, rule, maps, sample=None):
        return self.sides[self.side].vector_sum(rule, maps, sample)

    def marginals(self, sets, recodes=NO_RECODES):
        return [self.marginal(names, recodes) for names in sets]
