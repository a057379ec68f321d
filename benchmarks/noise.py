"""Seconds for a million draws of noise, beside NumPy (insecure) and OpenDP (when installed).

Run: python -m benchmarks.noise
"""

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2

from dpsyn_core.privacy.noise.system import SystemNoise

DRAWS = 1_000_000
SCALES = (10.0, 100.0, 1e3, 1e4, 1e5)
Draw = Callable[[], object]


def seconds(function: Draw, repeats: int) -> tuple[float, float]:
    """Least and median wall seconds of a call, after one call to warm up."""
    function()
    walls = []
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        walls.append(time.perf_counter() - start)
    return min(walls), float(np.median(walls))


def opendp_samplers() -> dict[str, Callable[[float, int], Callable[[], list[int]]]]:
    """Names and functions of OpenDP's secure mechanisms on integer vectors; empty when it is not installed."""
    try:
        import opendp.prelude as dp
    except ImportError:
        return {}
    dp.enable_features("contrib")

    def one(maker: Callable[..., Any], scale: float, draws: int) -> Callable[[], list[int]]:
        space = (
            dp.vector_domain(dp.atom_domain(T="i64")),
            (dp.l2_distance(T="f64") if maker is dp.m.make_gaussian else dp.l1_distance(T="i64")),
        )
        mechanism = maker(*space, scale=scale)
        zeros = [0] * draws

        def draw() -> list[int]:
            drawn: list[int] = mechanism(zeros)
            return drawn

        return draw

    return {
        "OpenDP discrete Gaussian": lambda scale, draws: one(dp.m.make_gaussian, scale, draws),
        "OpenDP discrete Laplace": lambda scale, draws: one(dp.m.make_laplace, scale, draws),
    }


def fit(draws: NDArray[np.int64], scale: float) -> float:
    """P-value of integer draws against the two-sided geometric law, 61 cells."""
    a = np.exp(-1 / scale)
    inner = (1 - a) / (1 + a) * a ** np.abs(np.arange(-29, 30))
    tail = a**30 / (1 + a)
    expected = draws.size * np.concatenate([[tail], inner, [tail]])
    counts = np.bincount(np.clip(draws, -30, 30) + 30, minlength=61)
    return float(chi2.sf(((counts - expected) ** 2 / expected).sum(), 60))


def main() -> None:
    source = SystemNoise()
    rng = np.random.default_rng(0)
    start = time.perf_counter()
    source.gaussian(10.0, 1)
    source.geometric(10.0, 1)
    print(f"first draws of a process (tables, compiled code from cache): {time.perf_counter() - start:.2f} s\n")
    print("| sampler | scale | draws timed | s per million, best | median |")
    print("|---|---|---|---|---|")

    def row(name: str, scale: float, draws: int, function: Draw, repeats: int) -> None:
        best, median = (DRAWS / draws * s for s in seconds(function, repeats))
        print(f"| {name} | {scale:g} | {draws:,} | {best:.4f} | {median:.4f} |")

    for scale in SCALES:
        row("rounded Gaussian (ours)", scale, DRAWS, partial(source.gaussian, scale, DRAWS), 5)
    for scale in SCALES:
        row("two-sided geometric (ours)", scale, DRAWS, partial(source.geometric, scale, DRAWS), 5)
    row("rounded Gaussian (ours)", 10.0, 5 * DRAWS, lambda: source.gaussian(10.0, 5 * DRAWS), 3)
    row("NumPy normal, floats, insecure", 10.0, DRAWS, lambda: rng.normal(0, 10.0, DRAWS), 5)
    for name, maker in opendp_samplers().items():
        for scale in (10.0, 1e5):
            row(name, scale, 50_000, maker(scale, 50_000), 1)
    if reference := opendp_samplers().get("OpenDP discrete Laplace"):
        theirs = np.array(reference(10.0, 100_000)())
        print(
            f"\nchi-square of 100,000 draws against the law of ours at scale 10, p: OpenDP {fit(theirs, 10.0):.3f}, ",
            end="",
        )
        print(f"ours {fit(source.geometric(10.0, 100_000), 10.0):.3f}")


if __name__ == "__main__":
    main()
