"""OpenDP's AIM and MST on codes, at its defaults: SYSTEM IN DOMAIN EPSILON DELTA OUT, called by `benchmarks.peers.run`.

It accounts in zero-concentrated differential privacy; rho is the largest that gives (epsilon, delta) by the conversion
that the authors of AIM use. Every column has one more category there, for values outside the domain, which noise may
fill; such a cell takes the value of the record above.
"""

import json
import math
import sys
from pathlib import Path

import opendp.prelude as dp
import polars as pl
from opendp.extras.mbi import AIM, MST


def rho_of(epsilon: float, delta: float) -> float:
    """Bisects: delta falls with epsilon, at the best order (Canonne, Kamath, Steinke 2020, proposition 7)."""

    def logs(rho: float, order: float) -> float:
        return (order - 1) * (order * rho - epsilon) - math.log(order - 1) + order * math.log1p(-1 / order)

    def least(rho: float) -> float:
        low, high = 1.01, epsilon / rho + 2 * math.sqrt(-math.log(delta) / rho) + 2
        for _ in range(200):  # of a function with one valley
            a, b = low + (high - low) / 3, high - (high - low) / 3
            low, high = (low, b) if logs(rho, a) < logs(rho, b) else (a, high)
        return logs(rho, low)

    low, high = 0.0, epsilon
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if least(middle) <= math.log(delta) else (low, middle)
    return low


def main() -> None:
    system, given, domain, epsilon, delta, out = sys.argv[1:]
    dp.enable_features("contrib")
    with Path(domain).open(encoding="utf-8") as file:
        sizes = json.load(file)
    records = pl.scan_csv(given)
    rho = rho_of(float(epsilon), float(delta))
    algorithm = AIM() if system == "aim" else MST()
    keys = {name: list(range(size)) for name, size in sizes.items()}
    # MST splits its share among its choices, and the floats may add up to one unit more than they came from: then it
    # refuses in the midst, and is run again with another part in 1e9 left over
    for left in range(1, 20):
        context = dp.Context.compositor(
            data=records, privacy_unit=dp.unit_of(contributions=1), privacy_loss=dp.loss_of(rho=rho)
        )
        query = context.query(rho=rho * (1 - left * 1e-9)).select(*sizes)
        try:
            table = query.contingency_table(keys=keys, algorithm=algorithm).release()
        except dp.OpenDPException as refused:
            if "insufficient budget" not in str(refused):
                raise
        else:
            made = table.synthesize()
            print("cells outside the domain:", sum(made.null_count().row(0)), file=sys.stderr)
            made.select(pl.all().fill_null(strategy="forward").fill_null(strategy="backward")).write_csv(out)
            return
    sys.exit("refused for the rounding of its shares, 19 times")


if __name__ == "__main__":
    main()
