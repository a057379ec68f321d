"""What noise on samples costs by four ways of accounting, and how long calibration takes.

`python -m benchmarks.experiments.sampled`
"""

from __future__ import annotations

import time

from dpsyn_core.privacy.budget import Budget
from dpsyn_core.privacy.conversions import gdp_epsilon
from dpsyn_core.privacy.sampled import SHARE, Sampling, sampled_mu, sampled_multiplier

DELTA = 1e-5
SETTINGS = (
    Sampling(rate=0.05, multiplier=3.09, steps=200),
    Sampling(rate=0.02, multiplier=2.0, steps=200),
    Sampling(rate=0.01, multiplier=1.4, steps=1000),
    Sampling(rate=0.004, multiplier=1.4, steps=1250),
    Sampling(rate=0.05, multiplier=9.0, steps=200, records=3),
    Sampling(rate=0.05, multiplier=6.0, steps=200, exchanged=True),
)


def exact_epsilon(sampling: Sampling) -> float:
    """By the privacy-loss distribution of dp_accounting itself; nan where it has none for the unit."""
    from dp_accounting.pld import privacy_loss_distribution as pld

    if sampling.records > 1 or sampling.exchanged:
        return float("nan")
    one = pld.from_gaussian_mechanism(sampling.multiplier, sampling_prob=sampling.rate)
    return float(one.self_compose(sampling.steps).get_epsilon_for_delta(DELTA))


def renyi_epsilon(sampling: Sampling) -> float:
    """By Renyi divergences; nan where dp_accounting has none for the unit."""
    import dp_accounting
    from dp_accounting.rdp import RdpAccountant

    if sampling.records > 1 or sampling.exchanged:
        return float("nan")
    accountant = RdpAccountant()
    event = dp_accounting.PoissonSampledDpEvent(sampling.rate, dp_accounting.GaussianDpEvent(sampling.multiplier))
    accountant.compose(event, sampling.steps)
    return float(accountant.get_epsilon(DELTA))


def main() -> None:
    """Prints both tables."""
    print(f"epsilon at delta {DELTA:g}\n")
    print("| rate | multiplier | steps | unit | booked | distribution | Renyi | not sampled |")
    print("|---|---|---|---|---|---|---|---|")
    for s in SETTINGS:
        failure = SHARE * DELTA
        booked = gdp_epsilon(sampled_mu(s, failure), DELTA - failure)
        unit = f"{s.records} record{'s' * (s.records > 1)}, {'replace' if s.exchanged else 'add/remove'}"
        whole = gdp_epsilon(s.unsampled_mu, DELTA)
        print(
            f"| {s.rate:g} | {s.multiplier:g} | {s.steps} | {unit} | {booked:.4f} | {exact_epsilon(s):.4f} "
            f"| {renyi_epsilon(s):.4f} | {whole:.1f} |"
        )
    print("\n| share of delta for failures | epsilon booked (first row) |")
    print("|---|---|")
    for share in (1 / 1000, 1 / 100, 1 / 20, 1 / 10, 1 / 5, 1 / 2):
        booked = gdp_epsilon(sampled_mu(SETTINGS[0], share * DELTA), DELTA * (1 - share))
        print(f"| {share:g} | {booked:.4f} |")
    print("\n| calibration at (epsilon, delta) | rate | steps | multiplier | seconds |")
    print("|---|---|---|---|---|")
    for epsilon, delta, rate, steps in ((1, 1e-5, 0.05, 200), (0.1, 1e-9, 0.05, 200), (8, 1e-6, 0.01, 10_000)):
        budget = Budget(epsilon=epsilon, delta=delta)
        mu = (2 * budget.gaussian(spare_delta=SHARE * delta).rho) ** 0.5
        begun = time.process_time()
        found = sampled_multiplier(mu, SHARE * delta, rate=rate, steps=steps)
        print(f"| {epsilon:g}, {delta:g} | {rate:g} | {steps} | {found:.4f} | {time.process_time() - begun:.2f} |")


if __name__ == "__main__":
    main()
