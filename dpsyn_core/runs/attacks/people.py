"""Singling out, linkage and inference: attacks on real records through a synthetic table, with a control group.

Half of the owner's people are in the table of a shadow run; the other half is the control group. What works on the
control group just as well is a fact of the population, not a leak.
Source: Giomi, Boenisch, Wehmeyer, Tasnadi 2023, "A Unified Framework for Quantifying Privacy Risk in Synthetic Data"
(Anonymeter). The code is not Anonymeter's; every success is also a guess that its person is in the table.
"""

from __future__ import annotations

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from dpsyn_core.runs.attacks.result import AttackSpec, AttackTally, Floats, Outcome
from dpsyn_core.runs.attacks.world import World
from dpsyn_core.schema import CodedAttribute, Codes, Domain

PREDICATES = 200  # statements tried in a run
ATTACKED = 200  # people attacked in a run, in the table or in the control group as their coins fell
LOOKED_AT = 5000  # synthetic records that an attack looks at
NEAREST = 3  # a link to more synthetic records than these is none
CLOSE = 0.05  # a number is guessed when it is off by at most this share of its bins


def attack(
    world: World, domain: Domain, tossed: NDArray[np.bool_], made: Codes, spec: AttackSpec, rng: Generator
) -> Outcome:
    """One attack of the kind that the spec names, on one synthetic table (n_attributes, n_records)."""
    if made.shape[1] > LOOKED_AT:
        made = made[:, rng.choice(made.shape[1], LOOKED_AT, replace=False)]
    if made.shape[1] == 0:
        return Outcome(coins=tossed)
    if spec.kind == "singling-out":
        return _single_out(world, tossed, made, rng)
    coins = rng.permutation(world.coins)[:ATTACKED]  # chosen without a look at how they fell
    records = world.codes[:, world.target[coins]]
    if spec.kind == "linkage":
        right, sure = _link(records, made, domain, rng)
        asked = np.zeros(len(coins), dtype=np.intp)
        names: tuple[str, ...] = ("all columns",)
    else:
        names = domain.names if spec.secret is None else (spec.secret,)
        asked = rng.permutation(len(coins)) % len(names)
        columns = np.array([domain.index(n) for n in names])[asked]
        right, sure = _infer(records, made, domain, columns)
    is_in = tossed[coins]
    tallies = {
        name: AttackTally(
            inside=int((is_in & at).sum()),
            inside_right=int((is_in & at & right).sum()),
            control=int((~is_in & at).sum()),
            control_right=int((~is_in & at & right).sum()),
        )
        for name, at in ((name, asked == i) for i, name in enumerate(names))
    }
    return Outcome(
        coins=tossed,
        guessed=coins[right],
        said=np.ones(int(right.sum()), dtype=bool),
        sure=sure[right],
        tallies=tallies,
    )


def _single_out(world: World, tossed: NDArray[np.bool_], made: Codes, rng: Generator) -> Outcome:
    """Tries on real records the statements that hold for one synthetic record alone.

    A statement is a value for each of some columns, taken from a synthetic record. One that fits a single record of
    all, of the table and of the control group, is a guess that this record is in the table.
    """
    d, tries = len(made), 3 * PREDICATES
    values = made[:, rng.integers(0, made.shape[1], tries)]
    widths = rng.choice(np.unique(np.clip([2, 3, 4, d // 2, d], 1, d)), tries)
    used = rng.random((d, tries)).argsort(axis=0).argsort(axis=0) < widths
    alone = np.flatnonzero(_matches(made, values, used).sum(axis=0) == 1)[:PREDICATES]
    values, used, widths = values[:, alone], used[:, alone], widths[alone]
    fits = _matches(world.codes, values, used)
    table = world.drawn(tossed)
    inside, control = fits[table].sum(axis=0) == 1, fits[~table].sum(axis=0) == 1
    one = np.flatnonzero(fits.sum(axis=0) == 1)
    record = fits[:, one].argmax(axis=0)
    tally = AttackTally(
        inside=len(alone), inside_right=int(inside.sum()), control=len(alone), control_right=int(control.sum())
    )
    coins, sure = world.coin[record], widths[one].astype(np.float64)
    order = np.lexsort((-sure, coins))  # of several statements about one person, the most detailed counts
    first = order[np.unique(coins[order], return_index=True)[1]] if len(order) else order
    return Outcome(
        coins=tossed,
        guessed=coins[first],
        said=world.side[record][first],
        sure=sure[first],
        tallies={"all columns": tally},
    )


def _matches(codes: Codes, values: Codes, used: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Which records fit which statements: (records, statements) from codes (d, records), values and used (d, s)."""
    out = np.ones((codes.shape[1], values.shape[1]), dtype=bool)
    for row, value, on in zip(codes, values, used, strict=True):
        at = np.flatnonzero(on)
        out[:, at] &= row[:, None] == value[None, at]
    return out


def distances(records: Codes, made: Codes, attribute: CodedAttribute) -> Floats:
    """Gower's distance in one attribute: 0 to 1, (records, made). Ordered values by their ranks, others equal or not.

    Source: Gower 1971. Missing and other values are equal or not.
    """
    a, b = records[:, None].astype(np.float64), made[None, :].astype(np.float64)
    apart: Floats = (a != b).astype(np.float64)
    ordinary = attribute.size - attribute.special
    if not attribute.ordered or ordinary < 3:
        return apart
    return np.asarray(np.where((a < ordinary) & (b < ordinary), np.abs(a - b) / (ordinary - 1), apart))


def _link(records: Codes, made: Codes, domain: Domain, rng: Generator) -> tuple[NDArray[np.bool_], Floats]:
    """Tells of each record whether both halves of its columns lead to one synthetic record.

    Two parties hold a half each. Returns whether each record (n,) was linked, and how sure the attack is.
    """
    order = rng.permutation(len(domain))
    near, least = [], []
    for half in (order[: len(order) // 2], order[len(order) // 2 :]):
        total = np.sum([distances(records[j], made[j], domain.attributes[j]) for j in half], axis=0)
        smallest = np.min(total, axis=1)
        near.append(total <= smallest[:, None] + 1e-12)
        least.append(smallest)
    few = (near[0].sum(axis=1) <= NEAREST) & (near[1].sum(axis=1) <= NEAREST)
    return few & (near[0] & near[1]).any(axis=1), -(least[0] + least[1])


def _infer(records: Codes, made: Codes, domain: Domain, columns: NDArray[np.intp]) -> tuple[NDArray[np.bool_], Floats]:
    """Each record's value of one column, guessed as the most common one among the nearest synthetic records.

    columns: (n,) the column that is unknown of each record. Returns whether each guess is right, and how sure it is:
    nearer neighbours make it surer, and so do rarer values.
    """
    total = np.zeros((records.shape[1], made.shape[1]))
    for j, attribute in enumerate(domain.attributes):
        total += distances(records[j], made[j], attribute) * (columns != j)[:, None]
    smallest = total.min(axis=1)
    near = total <= smallest[:, None] + 1e-12
    right, common = np.zeros(len(columns), dtype=bool), np.zeros(len(columns))
    for j in np.unique(columns):
        at, attribute = np.flatnonzero(columns == j), domain.attributes[j]
        values = (made[j][:, None] == np.arange(attribute.size)).astype(np.float64)
        guess = (near[at] @ values).argmax(axis=1)
        true, ordinary = records[j][at].astype(np.int64), attribute.size - attribute.special
        allowed = int(CLOSE * ordinary) if attribute.number else 0
        close = (guess < ordinary) & (true < ordinary) & (np.abs(guess - true) <= allowed)
        right[at] = (guess == true) | close
        common[at] = values.mean(axis=0)[guess]
    return right, -smallest - common
