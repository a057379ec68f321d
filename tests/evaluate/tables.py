"""Small seeded tables for the tests of metrics and reports."""

import numpy as np

from dpsyn_core.evaluate.comparison import Comparison
from dpsyn_core.schema.domain import CodedAttribute, Domain

SIZES = {"age": 12, "sex": 2, "city": 5, "job": 4, "pay": 10}


def small_domain():
    ordered = {"age", "pay"}
    return Domain(tuple(CodedAttribute(name=k, size=v, ordered=k in ordered) for k, v in SIZES.items()))


def draw(n, seed, blur=0.0):
    """Records in which pay follows age, sex and city; `blur` of them are replaced by uniform ones."""
    rng = np.random.default_rng(seed)
    age = rng.binomial(11, 0.4, n)
    sex = rng.integers(0, 2, n)
    city = rng.choice(5, n, p=[0.4, 0.25, 0.2, 0.1, 0.05])
    job = np.where(rng.random(n) < 0.7, age % 4, rng.integers(0, 4, n))
    pay = np.clip((age // 2 + 2 * sex * (city + 1) // 3 + rng.integers(0, 3, n)).astype(int), 0, 9)
    codes = np.stack([age, sex, city, job, pay]).astype(np.uint8)
    lost = rng.random(n) < blur
    for j, size in enumerate(SIZES.values()):
        codes[j, lost] = rng.integers(0, size, lost.sum())
    return codes


def small(n=2000, m=1500, blur=0.2, **rest):
    return Comparison(domain=small_domain(), real=draw(n, 1), synthetic=draw(m, 2, blur), **rest)


def brute(codes, index, shape):
    """Counts by a plain loop, the oracle of everything that counts."""
    out = np.zeros(shape, dtype=np.int64)
    for record in codes.T:
        out[tuple(record[list(index)])] += 1
    return out
