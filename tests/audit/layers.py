"""The layers of the audit, T0 to T3; each raises Alarm. False alarms are added up in docs/evidence/audit.md."""

import hashlib
import math
from itertools import product

import numpy as np
from scipy.special import log_ndtr, ndtr, ndtri
from scipy.stats import chi2, poisson

from dpsyn_core.errors import DPSynError
from dpsyn_core.measure.counting.memory import MemoryCounter
from dpsyn_core.measure.counting.sums import SumRule, one_hot
from dpsyn_core.measure.gate import Gate, sigma_of
from dpsyn_core.privacy.account import Account
from dpsyn_core.privacy.budget import Cost
from dpsyn_core.privacy.charge_record import ChargeRecord
from dpsyn_core.privacy.composition import compose
from dpsyn_core.privacy.noise.system import SystemNoise
from dpsyn_core.privacy.unit import Unit
from tests.audit.ears import listening
from tests.audit.gates import Alarm, TapeGate, WatchGate, accesses, released
from tests.audit.others import LAVISH
from tests.audit.world import (
    ARBITRARY,
    DOMAIN,
    RICH,
    WHITE,
    TwoSided,
    calibrated,
    main_offer,
    offers,
    pairs,
    random_table,
    served,
)
from tests.seeded import SeededNoise

T0_ALARM = 1e-5 / 14  # fourteen statistics
GAUSSIAN = ("gaussian", "sampled-gaussian")
SHARED = ("noise within an access", "noise of several accesses", "noise of several runs")
TILTED = "logarithms of exponential moments"
TILTS = np.outer([-1, 1], [0.02, 0.05, 0.1, 0.2, 0.4, 0.8, 1.6]).ravel()
SHARED_LIMIT = 7.0  # standard errors: these sums are skewed, and shared noise gives dozens
T3_ALARM = 1e-5 / 500  # at most five hundred statistics: canaries, and accesses by name, of all systems


def alarm(condition, text):
    if condition:
        raise Alarm(text)


# ---- T0: the source of noise


def t0(make=SystemNoise, draws=1_000_000):
    """Two sources differ, one source does not repeat itself, and a million draws fit their law."""
    one, other = make(), make()
    for kind in ("gaussian", "geometric"):
        first, again, second = getattr(one, kind)(9.0, 64), getattr(one, kind)(9.0, 64), getattr(other, kind)(9.0, 64)
        alarm(np.array_equal(first, second), f"{kind}: two sources draw the same noise")
        alarm(np.array_equal(first, again), f"{kind}: a source repeats its noise")
    for kind, scale in (("gaussian", 10.0), ("geometric", 10.0)):
        z = getattr(one, kind)(scale, draws)
        alarm(z.dtype != np.int64, f"{kind}: noise is not whole")
        edges = np.unique(np.rint(np.array([-4, -3, -2.5, *np.linspace(-2, 2, 17), 2.5, 3, 4]) * scale).astype(int))
        if kind == "gaussian":
            above = np.exp(log_ndtr(-(edges - 0.5) / scale))
            variance = scale**2 + 1 / 12
            fourth = 3 * variance**2
        else:
            a = math.exp(-1 / scale)
            above = np.where(
                edges > 0, a ** np.maximum(edges, 0) / (1 + a), 1 - a ** np.maximum(1 - edges, 0) / (1 + a)
            )
            variance = 2 * a / (1 - a) ** 2
            fourth = 6 * variance**2 * (1 + 1 / (6 * variance))
        expected = draws * -np.diff([1.0, *above, 0.0])
        counts = np.bincount(np.searchsorted(edges, z, side="right"), minlength=edges.size + 1)
        p = chi2.sf(((counts - expected) ** 2 / expected).sum(), edges.size)
        alarm(p < T0_ALARM, f"{kind}: chi-square p {p:.1e}")
        score = ((z.astype(float) ** 2).mean() - variance) / math.sqrt((fourth - variance**2) / draws)
        alarm(abs(score) > -ndtri(T0_ALARM / 2), f"{kind}: variance off by {score:.1f} standard errors")
        far = int(np.ceil(4.05 * scale))
        beyond, expected = int((np.abs(z) >= far).sum()), 2 * draws * tail_at(kind, far, scale)
        p = min(poisson.cdf(beyond, expected), poisson.sf(beyond - 1, expected))
        alarm(p < T0_ALARM / 2, f"{kind}: {beyond} draws beyond four sigma, {expected:.0f} expected")
        score = z.mean() / math.sqrt(variance / draws)
        alarm(abs(score) > -ndtri(T0_ALARM / 2), f"{kind}: mean off by {score:.1f} standard errors")
    gaps = np.array([0, 1, 2, 4], dtype=np.int64)
    law = np.exp(-0.5 * gaps) / np.exp(-0.5 * gaps).sum()
    counts = np.bincount([one.choose(gaps, 0.5) for _ in range(20_000)], minlength=4)
    p = chi2.sf(((counts - 20_000 * law) ** 2 / (20_000 * law)).sum(), 3)
    alarm(p < T0_ALARM, f"choice: chi-square p {p:.1e}")


def tail_at(kind, k, scale):
    """P(Z >= k), k >= 1."""
    if kind == "gaussian":
        return math.exp(log_ndtr(-(k - 0.5) / scale))
    return math.exp(-k / scale) / (1 + math.exp(-1 / scale))


def t0_samples(make=SystemNoise, n=150, steps=400, rate=0.2):
    """Samples through the gate: sizes are binomial, every record is in as many, and none says anything of another."""
    gate = Gate(account=Account(Cost(rho=1.0), delta=1e-6), noise=make(), unit=Unit())
    seen, real = [], gate._sampled
    gate._sampled = lambda charge, n_records: seen.append(real(charge, n_records)) or seen[-1]
    rule = SumRule(features=one_hot(DOMAIN, ("a",)), clip=1.0, cells=3)
    counter = MemoryCounter(random_table(n, 4), DOMAIN)
    run = gate.release_sampled_sum("s", counter, rule=rule, rate=rate, steps=steps, cost=Cost(rho=1.0), delta=1e-6)
    for _ in range(steps):
        run.step(lambda x: [x])
    q, masks = run.charge.sampling, np.array(seen, dtype=float)
    alarm(masks.shape != (steps, n), "a step draws no sample of its own")
    z = (masks - q) / math.sqrt(q * (1 - q))
    fourth = (1 - 3 * q * (1 - q)) / (q * (1 - q))
    sizes, turns = z.sum(1) / math.sqrt(n), z.sum(0) / math.sqrt(steps)
    scores = {  # each has mean 0 and variance 1, and is a sum of hundreds of nearly independent terms
        "how many are sampled": z.sum() / math.sqrt(z.size),
        "sizes of samples": ((sizes**2).mean() - 1) / math.sqrt((2 + (fourth - 3) / n) / steps),
        "turns of records": ((turns**2).mean() - 1) / math.sqrt((2 + (fourth - 3) / steps) / n),
        "successive samples": (z[1:] * z[:-1]).sum() / math.sqrt(z[1:].size),
        "neighbours in the table": (z[:, 1:] * z[:, :-1]).sum() / math.sqrt(z[:, 1:].size),
    }
    for what, score in scores.items():
        alarm(abs(score) > -ndtri(T0_ALARM / 2), f"samples: {what} off by {score:.1f} standard errors")


# ---- T1: constant tape


def t1(name, tables=tuple(ARBITRARY)):
    """The same bytes for arbitrary tables: records, progress, charges, what is raised, warned, logged or printed.

    Returns a digest of them.
    """
    digest = hashlib.sha256()
    for neighbours, delta in offers(name):
        seen = []
        for codes in (tables[0], *tables):  # once more: libraries say some things at their first use alone
            said, heard = [], []

            def progress(stage, done, total, value=None, said=said):
                said.append((stage, done, total, value))

            system = calibrated(name, Unit(neighbours=neighbours), epsilon=RICH.get(name, 8.0), delta=delta)
            gate = TapeGate(
                account=Account(system.cost, delta=system.failure),
                noise=SeededNoise(0),
                unit=Unit(neighbours=neighbours),
            )
            with listening(heard):
                try:
                    measured = system.measure(MemoryCounter(codes, DOMAIN), gate=gate, progress=progress)
                    out = system.synthesize(measured, None, rng=np.random.default_rng(0), progress=progress)
                    seen.append((out.shape, out.dtype.str, out.tobytes(), said, gate.account.charges, heard))
                except DPSynError as error:
                    seen.append((str(error), said, heard))
        seen = seen[1:]
        alarm(any(s != seen[0] for s in seen), f"{name}, {neighbours}, delta {delta}: the output depends on the table")
        digest.update(repr(seen[0]).encode())
    return digest.hexdigest()


# ---- T2: what neighbours move


def watched(system, counter, unit, **kwargs):
    """One measure phase; returns the gate with its notes."""
    gate = WatchGate(account=Account(system.cost, delta=system.failure), unit=unit, **kwargs)
    system.measure(counter, gate=gate)
    return gate


def t2(name, seeds=(0, 1), pairs_of=pairs):
    """Every access moves by at most what is charged, is charged before it is read, and all charges fit the budget.

    One neighbour runs freely; the other is made to release the same, so that both ask the same questions. Nothing
    of the first run is left in the second: a system may keep what it has counted.
    """
    for neighbours, delta in offers(name):
        for pair in served(name, pairs_of(neighbours)):
            where = f"{name}, {pair.name}, {neighbours}, delta {delta}"
            for (free, bound), seed in product(((pair.left, pair.right), (pair.right, pair.left)), (None, *seeds)):
                gates, outputs = [], None
                for codes in (free, bound):
                    try:
                        system = calibrated(name, pair.unit, epsilon=RICH.get(name, 2.0), delta=delta)
                        noise = SeededNoise(seed or 0)
                        quiet = {"noise": noise, "quiet": seed is None, "forced": outputs}
                        gates.append(watched(system, MemoryCounter(codes, DOMAIN), pair.unit, **quiet))
                    except DPSynError as error:
                        raise Alarm(f"{where}: {error}") from error
                    outputs = released(gates[0].notes)
                    check_charges(gates[-1], where, *top_of(name, delta))
                left, right = gates
                alarm(left.account.charges != right.account.charges, f"{where}: the charges depend on the table")
                for one, other in zip(left.notes, right.notes, strict=True):
                    check_note(one, other, pair.unit, where)


def top_of(name, delta):
    """(epsilon, delta) that all charges together may cost in T2."""
    if name in RICH:
        return RICH[name], delta
    if name == "discovery":
        return 2.0 * LAVISH, delta
    if name != "probe":
        return 2.0, delta
    return (8.0, 0.07) if delta else (2.0, 0.02)


def check_charges(gate, where, epsilon, delta):
    """Charged before it is read, one charge an access, all of them within the budget."""
    alarm(gate.late, f"{where}: {gate.late} read before they were charged")
    charges = gate.account.charges
    alarm(accesses(gate.notes) != charges, f"{where}: accesses and charges differ")
    alarm(not compose(charges).within(epsilon, delta), f"{where}: the charges exceed the budget")


def most_moved(charge):
    """The most that neighbours move an access: of samples, when all records of an individual are in both."""
    return charge.sensitivity * charge.records * (2 if charge.exchanged else 1)


def check_note(one, other, unit, where):
    """The movement between neighbours against the charge."""
    charge, slack = one.charge, 1 + 1e-9
    where = f"{where}, '{charge.name}'"
    if one.way in ("noise", "sparse"):
        move = np.abs(one.here - other.here).astype(float).ravel()
        norm = math.sqrt((move**2).sum()) if charge.mechanism in GAUSSIAN else move.sum()
        alarm(norm > most_moved(charge) * slack, f"{where}: neighbours move it by {norm}, {most_moved(charge)} charged")
        if charge.mechanism == "sampled-gaussian":
            paid_for = (charge.records, charge.exchanged)
            alarm(paid_for != (unit.max_records, unit.neighbours == "replace"), f"{where}: paid for another unit")
            alarm(ChargeRecord.of(charge).wrong, f"{where}: less charged than its samples cost")
            return
        spent = charge.sensitivity / charge.scale
        alarm(spent**2 / 2 > charge.rho * slack, f"{where}: less rho charged than its noise costs")
        alarm(charge.mechanism == "geometric" and spent > charge.epsilon * slack, f"{where}: less epsilon charged")
    elif one.way == "choice":
        worst = np.abs(one.here - other.here).max()
        alarm(worst > charge.epsilon * slack, f"{where}: neighbours choose with a ratio of e^{worst}")
    elif one.way == "urn":
        alarm(unit.neighbours != "replace", f"{where}: an urn protects replace neighbours alone")
        moved = np.abs(one.here - other.here).sum() / 2
        alarm(moved > unit.max_records, f"{where}: {moved} records move")
        loss = unit.max_records * math.log1p(one.extra / charge.scale)
        alarm(loss > charge.epsilon * slack, f"{where}: the prior is too small, its loss is {loss}")
    elif one.way == "keys":
        moves = [abs(one.held.get(k, 0) - other.held.get(k, 0)) for k in one.held.keys() | other.held.keys()]
        alarm(max(moves, default=0) > one.extra, f"{where}: neighbours move one key by {max(moves, default=0)}")
        norm = math.sqrt(sum(m * m for m in moves)) if charge.epsilon == 0 else sum(moves)
        alarm(norm > charge.sensitivity * slack, f"{where}: neighbours move all keys by {norm}")
        alarm(ChargeRecord.of(charge).wrong, f"{where}: less charged than the noise on its keys costs")
        lost = math.fsum(
            keep_probability(here, charge, one.extra)
            for mine, theirs in ((one.held, other.held), (other.held, one.held))
            for here in (count for key, count in mine.items() if key not in theirs)
        )
        alarm(lost > charge.delta * slack, f"{where}: keys of one individual come out with {lost}")


# ---- T3: white box


class Score:
    """Mean and variance of a statistic over runs, by side."""

    def __init__(self):
        self.values = ([], [])

    def add(self, side, value):
        self.values[side].append(value)


def t3(name, runs=500, epsilon=8.0, pairs_of=pairs):
    """Canary scores of both neighbours stand no farther apart, and noise is no smaller, than the charges say.

    Returns how far apart they stood, how far they may (None without additive noise), the least ratio of noise to its
    charged variance, and the largest standard score of the other mechanisms' laws.
    """
    make = SystemNoise()
    neighbours, delta = main_offer(name)
    epsilon = WHITE.get(name, epsilon if delta else 2.0)  # an urn at epsilon 8 has next to no prior to look at
    canary, residual, laws = Score(), {}, {}
    bound = 0.0
    for pair in served(name, pairs_of(neighbours)):
        system = calibrated(name, pair.unit, epsilon=epsilon, delta=delta)
        counter = TwoSided(pair.left, pair.right)
        for side in (0, 1):
            for _ in range(runs):
                counter.side = side
                gate = watched(system, counter, pair.unit, noise=make, two_sided=counter)
                bound = max(bound, collect(gate.notes, side, canary, residual, laws))
    return judge(f"{name}, {neighbours}, delta {delta}", canary, residual, laws, bound)


def collect(notes, side, canary, residual, laws):
    """Adds one run; returns the square root of the sum of (sensitivity / sd)^2 that was charged."""
    score, noisy, charged = 0.0, False, 0.0
    standard = []
    for note in notes:
        if note.way == "noise":
            sd2 = sigma_of(note.charge) ** 2 + (1 / 12 if note.charge.mechanism in GAUSSIAN else 0.0)
            toward = note.there - note.here if side == 0 else note.here - note.there
            left = note.here if side == 0 else note.there
            score += float(((note.out - left) * toward).sum()) / sd2
            charged += most_moved(note.charge) ** 2 / sd2
            standard.append((note.out - note.here).ravel() / math.sqrt(sd2))
            squares = float((standard[-1] ** 2).sum())
            # variance of a squared standard draw: 2, or 5 + 1 / variance for the geometric law
            spread = 2.0 if note.charge.mechanism in GAUSSIAN else 5 + 1 / sd2
            residual.setdefault(note.charge.name, []).append((squares, note.out.size, spread * note.out.size))
            noisy = True
        elif note.way == "choice":
            law = np.exp(note.here)
            mean, square = (law * note.here).sum(), (law * note.here**2).sum()
            laws.setdefault("choice", []).append((note.here[note.out] - mean, square - mean**2))
            laws.setdefault(TILTED, {}).setdefault("choice", []).append(tilted_choice(note.here - mean, note.here))
        elif note.way == "urn":
            direction = note.there - note.here
            p = (note.here + note.charge.scale) / (note.here + note.charge.scale).sum()
            total, m = (note.here + note.charge.scale).sum(), note.extra
            spread = m * (total + m) / (total + 1) * ((direction**2 * p).sum() - (direction * p).sum() ** 2)
            laws.setdefault(f"urn {side}", []).append((float((direction * (note.out - m * p)).sum()), spread))
        elif note.way == "sparse":
            a, t = math.exp(-1 / note.charge.scale), note.extra - note.here
            p = np.where(t > 0, a ** np.maximum(t, 0) / (1 + a), 1 - a ** np.maximum(1 - t, 0) / (1 + a))
            bernoulli(laws, "sparse", note.out[0].size, p)
        elif note.way == "keys":
            p = np.array([keep_probability(int(n), note.charge, note.extra) for n in note.here])
            bernoulli(laws, "keys", note.out.sum(), p)
            bernoulli(laws, "lone keys", note.out[note.here == 1].sum(), p[note.here == 1])
    if noisy:
        canary.add(side, score)
        shared_noise(standard, laws)
    return math.sqrt(charged)


def tilted_choice(off, log_law):
    """log E exp(tilt * off) of one choice, for every tilt."""
    return np.logaddexp.reduce(log_law + np.outer(TILTS, off), axis=1)


def bernoulli(laws, way, count, p):
    """A count of independent events with these chances."""
    laws.setdefault(way, []).append((count - p.sum(), (p * (1 - p)).sum()))
    tilted = (np.log1p(np.outer(np.expm1(TILTS), p)) - np.outer(TILTS, p)).sum(1)
    laws.setdefault(TILTED, {}).setdefault(way, []).append(tilted)


def shared_noise(standard, laws):
    """Products of standard draws have mean 0 when independent: within accesses, across them, and from run to run."""
    within = [(x.sum() ** 2 - (x**2).sum(), 2.0 * x.size * (x.size - 1)) for x in standard]
    laws.setdefault(SHARED[0], []).append(tuple(map(sum, zip(*within, strict=True))))
    wide = np.zeros((len(standard), max(x.size for x in standard)))
    for row, x in zip(wide, standard, strict=True):
        row[: x.size] = x
    held = np.bincount([x.size - 1 for x in standard], minlength=wide.shape[1])[::-1].cumsum()[::-1]
    across = ((wide.sum(0) ** 2 - (wide**2).sum(0)).sum() / 2, (held * (held - 1)).sum() / 2)
    laws.setdefault(SHARED[1], []).append(across)
    drawn = np.concatenate(standard)
    last = laws.pop("last run", drawn[:0])
    size = min(last.size, drawn.size)
    laws.setdefault(SHARED[2], []).append((float(drawn[:size] @ last[:size]), float(size)))
    laws["last run"] = drawn


def keep_probability(n, charge, per_key, known={}):
    """P(n + X > k) for the noise of the charge, k the least that its delta allows; recomputed here."""
    key = (n, charge.scale, charge.delta, per_key, charge.epsilon)
    if key not in known:
        if charge.epsilon == 0:
            moved = round(charge.sensitivity**2 / per_key)

            def tail(x):
                return float(ndtr(-(x - 0.5) / charge.scale))  # P(X >= x)

            k = per_key
            while max(moved * tail(k), moved / per_key * tail(k - per_key + 1)) > charge.delta:
                k += 1
            known[key] = tail(k - n + 1)
            return known[key]
        a, goal = math.exp(-1 / charge.scale), charge.delta * per_key / charge.sensitivity
        k = per_key
        while (1 - a) / (1 + a - 2 * a ** (k + 1)) * sum(a ** (k - i) for i in range(per_key)) > goal:
            k += 1
        x = np.arange(-k, k + 1)
        w = a ** np.abs(x)
        known[key] = float(w[n + x > k].sum() / w.sum())
    return known[key]


def judge(where, canary, residual, laws, bound):
    """One-sided tests: farther apart, or less noise, than charged; laws of other mechanisms two-sided."""
    worst = -ndtri(T3_ALARM)
    apart, least, off_law = None, None, None
    left, right = map(np.array, canary.values)
    if left.size:
        spread = math.sqrt((left.var(ddof=1) + right.var(ddof=1)) / 2)
        alarm(spread == 0 and (right.mean() != left.mean()), f"{where}: neighbours can be told apart for certain")
        if spread > 0:
            apart = (right.mean() - left.mean()) / spread
            # the standard deviation is estimated too; 6 is the kurtosis of Laplace noise, 3 that of a Gaussian
            error = math.sqrt((2 + apart**2 * (6 - 1) / 8) / left.size)
            alarm(apart - bound > worst * error, f"{where}: {apart:.3f} standard deviations apart, {bound:.3f} charged")
    for name, rows in residual.items():
        squares, cells, variance = (sum(column) for column in zip(*rows, strict=True))
        score = (squares - cells) / math.sqrt(variance)  # skewed to the right: its left tail is lighter than normal
        ratio = squares / cells
        least = ratio if least is None else min(least, ratio)
        alarm(score < -worst, f"{where}: the noise of '{name}' has {ratio:.3f} of its charged variance")
    laws.pop("last run", None)
    exact = {way: np.sum(rows, axis=0) for way, rows in laws.pop(TILTED, {}).items()}
    for way, pairs_ in laws.items():
        limit = SHARED_LIMIT if way in SHARED else worst
        off, variance = map(np.array, zip(*pairs_, strict=True))
        if variance.sum() > 1e-9:
            score = off.sum() / math.sqrt(variance.sum())
            off_law = max(off_law or 0.0, abs(score))
            # Chernoff's bound, whatever earlier draws decided: rare keys and choices are too skewed for a normal law
            chance = TILTS.size * math.exp((exact[way] - TILTS * off.sum()).min()) if way in exact else 1.0
            far = chance < T3_ALARM if way in exact else abs(score) > limit
            alarm(far, f"{where}, {way}: off its law by {score:.1f} standard errors")
        else:
            alarm(np.abs(off).sum() > 1e-6, f"{where}, {way}: certain by its law, but varies")
    return apart, bound if left.size else None, least, off_law
