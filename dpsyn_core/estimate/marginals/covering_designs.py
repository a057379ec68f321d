"""Covering designs: few views that hold every set of columns.

Finite planes over small fields: designs in which every two points share exactly one line.

Covering designs: attribute sets such that every pair (or triple) of attributes is inside one.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.errors import SizeError
from dpsyn_core.schema import AttributeSet, Domain

Ints = NDArray[np.int64]
ORDERS = (2, 3, 4, 5, 7, 8, 9, 11, 13, 16)


def field_tables(q: int) -> tuple[Ints, Ints]:
    """Addition and multiplication tables of GF(q), int64 (q, q) each, for a prime power q.

    An element is the number whose base-p digits are the coefficients of its polynomial.
    """
    p = next(f for f in range(2, q + 1) if q % f == 0)
    k = round(np.log(q) / np.log(p))
    digits = np.array([[a // p**i % p for i in range(k)] for a in range(q)])
    powers = p ** np.arange(k)
    add = ((digits[:, None] + digits[None, :]) % p) @ powers
    for low in itertools.product(range(p), repeat=k):
        multiply = _multiplication(digits, np.array(low), p) @ powers
        if k == 1 or (np.sort(multiply[1:, 1:], axis=1) == np.arange(1, q)).all():
            return add, multiply
    raise AssertionError  # pragma: no cover  (every prime power has an irreducible polynomial)


def _multiplication(digits: Ints, low: Ints, p: int) -> Ints:
    """Products modulo x^k + low, as digits (q, q, k); a field only when that polynomial is irreducible."""
    q, k = digits.shape
    product = np.zeros((q, q, 2 * k - 1), dtype=np.int64)
    for i, j in itertools.product(range(k), repeat=2):
        product[:, :, i + j] += digits[:, None, i] * digits[None, :, j]
    for degree in range(2 * k - 2, k - 1, -1):
        product[:, :, degree - k : degree] -= product[:, :, degree, None] * low
        product[:, :, degree] = 0
    return product[:, :, :k] % p


def affine_plane(q: int) -> list[tuple[int, ...]]:
    """The q^2 + q lines of AG(2, q), q points each of q^2; every two points share exactly one line."""
    add, multiply = field_tables(q)
    x = np.arange(q)
    lines = [x + q * add[multiply[slope], shift] for slope in range(q) for shift in range(q)]
    lines += [shift + q * x for shift in range(q)]
    return [tuple(int(v) for v in np.sort(line)) for line in lines]


def projective_plane(q: int) -> list[tuple[int, ...]]:
    """The q^2 + q + 1 lines of PG(2, q), q + 1 points each; order 1 is the triangle."""
    if q == 1:
        return [(0, 1), (0, 2), (1, 2)]
    lines = affine_plane(q)
    # parallel lines meet in one new point, and the new points lie on one new line
    directions = [*range(q * q + q + 1)][q * q :]
    extended = [(*line, directions[i // q]) for i, line in enumerate(lines)]
    return [*extended, tuple(directions)]


Design = list[tuple[int, ...]]
MAX_TUPLES = 2_000_000


def pair_error(size: int, t: int = 2) -> float:
    """Noise of a covered t-set, up to a constant factor, for views of `size` binary attributes.

    2^(size/2) / (size (size - 1) ...): in a larger view the t-set is a sum over more cells; smaller views are more
    numerous and split the budget further. The minimum is at 6 for pairs and at 10 for triples; 8 is a compromise.
    Source: Qardaji, Yang, Li 2014, section 4.5.
    """
    return 2 ** (size / 2) / math.prod(size - i for i in range(t))


def schonheim(v: int, k: int, t: int) -> int:
    """The Schönheim bound: no covering of all t-sets of v points by blocks of k has fewer blocks."""
    bound = 1
    for i in range(t - 1, -1, -1):
        bound = math.ceil((v - i) / (k - i) * bound)
    return bound


def uncovered(design: Design, v: int, t: int) -> int:
    """How many t-sets of v points lie in no block."""
    covered = {s for block in design for s in itertools.combinations(sorted(block), t)}
    return math.comb(v, t) - len(covered)


def plane_cover(v: int, k: int) -> Design | None:
    """A covering of all pairs of v points by blocks of at most k, from a plane whose points are groups of points.

    Each of the affine and projective planes is tried with groups as large as the block allows; the one with the
    fewest blocks wins. None when no plane is large enough.
    """
    best: Design | None = None
    candidates = [(1, True)] + [(q, projective) for q in ORDERS for projective in (True, False)]
    for q, projective in candidates:
        points, line = (q * q + q + 1, q + 1) if projective else (q * q, q)
        group = k // line
        if group * points < v:
            continue
        lines = projective_plane(q) if projective else affine_plane(q)
        members = np.array_split(np.arange(v), points)
        blocks = {tuple(int(i) for p in one for i in members[p]) for one in lines}
        # with fewer attributes than places some groups are empty, and a block can then lie inside another one
        design = [b for b in sorted(blocks) if len(b) > 1 and not any(set(b) < set(c) for c in blocks)]
        if best is None or len(design) < len(best):
            best = design
    return best


def greedy_cover(sizes: Sequence[int], t: int, k: int, max_cells: int) -> Design:
    """A covering of all t-sets by blocks of at most k attributes and, where they fit, `max_cells` cells.

    Each block starts from the uncovered t-set with the most cells and takes the attribute that covers most new
    t-sets, the smaller attribute among equals. A t-set that is itself above the cap becomes a separate block.

    Raises:
        SizeError: more than two million t-sets.
    """
    v = len(sizes)
    if math.comb(v, t) > MAX_TUPLES:
        msg = f"{v} attributes have more than {MAX_TUPLES} sets of {t}; use cover=2, or the method 'privsyn'"
        raise SizeError(msg)
    if v <= t:
        return [tuple(range(v))] if v else []
    size = np.asarray(sizes, dtype=np.float64)
    left = np.array(list(itertools.combinations(range(v), t)), dtype=np.intp)
    left = left[np.argsort(-size[left].prod(axis=1), kind="stable")]
    design: Design = []
    while left.shape[0]:
        block = [int(i) for i in left[0]]
        cells = float(size[block].prod())
        while len(block) < k:
            fits = (cells * size <= max_cells) & ~np.isin(np.arange(v), block)
            gain = _gains(left, block, v)
            if not (fits & (gain > 0)).any():
                break
            score = np.where(fits, gain - 1e-9 * np.log(size), -np.inf)
            best = int(np.argmax(score))
            block.append(best)
            cells *= float(size[best])
        design.append(tuple(sorted(block)))
        left = left[~np.isin(left, block).all(axis=1)]
    return design


def random_views(sizes: Sequence[int], number: int, k: int, max_cells: int, *, seed: int) -> Design:
    """Blocks of k attributes drawn at random in public; attributes that no block holds fill further blocks.

    Args:
        sizes: of the attributes.
        number: blocks to draw; equal ones count once.
        k: attributes a block, at most.
        max_cells: cells a block; an attribute that would bring its block above is left out of it.
        seed: public.
    """
    rng = np.random.default_rng(seed)
    views: dict[tuple[int, ...], None] = {}

    def take(order: Sequence[int]) -> None:
        block: list[int] = []
        cells = 1
        for i in order:
            if len(block) < k and (not block or cells * sizes[i] <= max_cells):
                block.append(i)
                cells *= sizes[i]
        if block:
            views[tuple(sorted(block))] = None

    for _ in range(10 * number):  # small domains have fewer different blocks than were asked for
        if len(views) >= number:
            break
        take([int(i) for i in rng.permutation(len(sizes))])
    while left := [i for i in range(len(sizes)) if not any(i in block for block in views)]:
        take(left)
    return list(views)


def view_noise(design: Design, sizes: Sequence[int], t: int, sigma: float) -> float:
    """Expected L1 noise of a t-set of a covering, averaged over all of them, when a cell of a view has noise `sigma`.

    A cell of the t-set sums the cells of a view that project to it; views that hold the same t-set are averaged.
    """
    precision: dict[tuple[int, ...], float] = {}
    for block in design:
        cells = math.prod(sizes[i] for i in block)
        for s in itertools.combinations(block, t):
            precision[s] = precision.get(s, 0.0) + math.prod(sizes[i] for i in s) / cells
    noise = [math.prod(sizes[i] for i in s) * sigma / math.sqrt(p) for s, p in precision.items()]
    return math.sqrt(2 / math.pi) * sum(noise) / max(len(noise), 1)


def _gains(left: NDArray[np.intp], block: list[int], v: int) -> NDArray[np.int64]:
    """For each attribute outside the block, how many open t-sets it would close."""
    inside = np.isin(left, block)
    nearly = left[inside.sum(axis=1) == left.shape[1] - 1]
    missing = nearly[~np.isin(nearly, block)]
    return np.bincount(missing, minlength=v)


def views(domain: Domain, *, t: int, k: int, max_cells: int) -> list[AttributeSet]:
    """Attribute sets that cover all t-sets of a domain: the greedy design, or a plane where that has fewer blocks.

    Args:
        domain: attributes and sizes.
        t: 2 or 3.
        k: attributes a view, at most.
        max_cells: cells a view, where a t-set alone does not have more.
    """
    design = greedy_cover(domain.sizes, t, k, max_cells)
    plane = plane_cover(len(domain), k) if t == 2 and len(domain) > k else None
    if plane is not None and len(plane) < len(design):
        widest = max(math.prod(domain.sizes[i] for i in block) for block in plane)
        design = plane if widest <= max_cells else design
    return [tuple(domain.names[i] for i in block) for block in design]
