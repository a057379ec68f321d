"""The layers of the audit, T0 to T3; each raises Alarm. False alarms are added up in docs/audit.md."""

import math

import numpy as np
from scipy.special import log_ndtr, ndtri
from scipy.stats import chi2, poisson

from dpsyn_core.errors import DPSynError
from dpsyn_core.measurement import partitions
from dpsyn_core.measurement.gate import Gate, sigma_of
from dpsyn_core.noise.system import SystemNoise
from dpsyn_core.privacy.account import Account
from dpsyn_core.privacy.accountant import compose
from dpsyn_core.privacy.unit import Unit
from tests.audit.gates import Alarm, PairGate, TapeGate
from tests.audit.world import ARBITRARY, DOMAIN, TwoSided, calibrated, offers, pairs
from tests.synthesizers.harness import SeededNoise

T0_ALARM = 1e-5 / 9  # nine statistics
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


# ---- T1: constant tape


def t1(name, tables=tuple(ARBITRARY)):
    """The same bytes for arbitrary tables: records, progress, charges, and whether anything is raised."""
    from dpsyn_core.counting.memory import MemoryCounter

    for neighbours, delta in offers(name):
        seen = []
        for codes in tables:
            said = []

            def progress(stage, done, total, value=None, said=said):
                said.append((stage, done, total, value))

            system = calibrated(name, Unit(neighbours=neighbours), delta=delta)
            gate = TapeGate(
                account=Account(system.cost, delta=system.failure),
                noise=SeededNoise(0),
                unit=Unit(neighbours=neighbours),
            )
            try:
                measured = system.measure(MemoryCounter(codes, DOMAIN), gate=gate, progress=progress)
                out = system.synthesize(measured, None, rng=np.random.default_rng(0), progress=progress)
                seen.append((out.shape, out.dtype.str, out.tobytes(), said, gate.account.charges))
            except DPSynError as error:
                seen.append(str(error))
        alarm(any(s != seen[0] for s in seen), f"{name}, {neighbours}, delta {delta}: the output depends on the table")


# ---- T2: what neighbours move


def watched(system, counter, pair, side, *, noise, quiet=False):
    """One measure phase over a pair; returns the gate with its notes."""
    account = Account(system.cost, delta=system.failure)
    gate = PairGate(counter, side, quiet=quiet, account=account, noise=noise, unit=pair.unit)
    system.measure(counter, gate=gate)
    return gate


def t2(name, seeds=(0, 1)):
    """Every access moves by at most what is charged, is charged before it is read, and all charges fit the budget."""
    for neighbours, delta in offers(name):
        for pair in pairs(neighbours):
            where = f"{name}, {pair.name}, {neighbours}, delta {delta}"
            for side, seed in [(s, n) for n in (None, *seeds) for s in (0, 1)]:
                try:
                    system = calibrated(name, pair.unit, epsilon=2.0, delta=delta)
                    noise = SeededNoise(seed or 0)
                    gate = watched(system, TwoSided(pair.left, pair.right), pair, side, noise=noise, quiet=seed is None)
                except DPSynError as error:
                    raise Alarm(f"{where}: {error}") from error
                alarm(gate.late, f"{where}: {gate.late} read before they were charged")
                charges = gate.account.charges
                alarm([n.charge for n in gate.notes] != charges, f"{where}: accesses and charges differ")
                for note in gate.notes:
                    check_note(note, pair.unit, where)
                limit = 0.07 if name == "probe" and delta else delta
                top = 8.0 if name == "probe" and delta else 2.0
                if name == "probe" and not delta:
                    continue  # pure noise beside keys with a delta: its cost is what the account kept
                alarm(not compose(charges).within(top, limit), f"{where}: the charges exceed the budget")


def check_note(note, unit, where):
    """The movement between neighbours against the charge."""
    charge, slack = note.charge, 1 + 1e-9
    where = f"{where}, '{charge.name}'"
    if note.way in ("noise", "sparse"):
        move = np.abs(note.here - note.there).astype(float).ravel()
        norm = math.sqrt((move**2).sum()) if charge.mechanism == "gaussian" else move.sum()
        alarm(norm > charge.sensitivity * slack, f"{where}: neighbours move it by {norm}, {charge.sensitivity} charged")
        spent = charge.sensitivity / charge.scale
        alarm(spent**2 / 2 > charge.rho * slack, f"{where}: less rho charged than its noise costs")
        alarm(charge.mechanism == "geometric" and spent > charge.epsilon * slack, f"{where}: less epsilon charged")
    elif note.way == "choice":
        worst = np.abs(note.here - note.there).max()
        alarm(worst > charge.epsilon * slack, f"{where}: neighbours choose with a ratio of e^{worst}")
    elif note.way == "urn":
        alarm(unit.neighbours != "replace", f"{where}: an urn protects replace neighbours alone")
        moved = np.abs(note.here - note.there).sum() / 2
        alarm(moved > unit.max_records, f"{where}: {moved} records move")
        loss = unit.max_records * math.log1p(note.extra / charge.scale)
        alarm(loss > charge.epsilon * slack, f"{where}: the prior is too small, its loss is {loss}")
    elif note.way == "keys":
        reach = partitions.reach_for(charge.scale, note.extra, charge.delta * note.extra / charge.sensitivity)
        lost = partitions.failure(charge.scale, note.extra, reach) * charge.sensitivity / note.extra
        alarm(lost > charge.delta * slack, f"{where}: keys of one individual come out with {lost}")


# ---- T3: white box


class Score:
    """Mean and variance of a statistic over runs, by side."""

    def __init__(self):
        self.values = ([], [])

    def add(self, side, value):
        self.values[side].append(value)


def t3(name, runs=500, epsilon=8.0, pairs_of=pairs):
    """Canary scores of both neighbours stand no farther apart, and noise is no smaller, than the charges say."""
    make = SystemNoise()
    for neighbours, delta in offers(name)[-1:]:
        epsilon = epsilon if delta else 2.0  # an urn at epsilon 8 has next to no prior to look at
        canary, residual, laws = Score(), {}, {}
        bound = 0.0
        for pair in pairs_of(neighbours):
            system = calibrated(name, pair.unit, epsilon=epsilon, delta=delta)
            counter = TwoSided(pair.left, pair.right)
            for side in (0, 1):
                for _ in range(runs):
                    gate = watched(system, counter, pair, side, noise=make)
                    bound = max(bound, collect(gate.notes, side, canary, residual, laws))
        judge(f"{name}, {neighbours}, delta {delta}", canary, residual, laws, bound)


def collect(notes, side, canary, residual, laws):
    """Adds one run; returns the square root of the sum of (sensitivity / sd)^2 that was charged."""
    score, noisy, charged = 0.0, False, 0.0
    for note in notes:
        if note.way == "noise":
            sd2 = sigma_of(note.charge) ** 2 + (1 / 12 if note.charge.mechanism == "gaussian" else 0.0)
            toward = note.there - note.here if side == 0 else note.here - note.there
            left = note.here if side == 0 else note.there
            score += float(((note.out - left) * toward).sum()) / sd2
            charged += note.charge.sensitivity**2 / sd2
            squares = float(((note.out - note.here) ** 2).sum()) / sd2
            # variance of a squared standard draw: 2, or 5 + 1 / variance for the geometric law
            spread = 2.0 if note.charge.mechanism == "gaussian" else 5 + 1 / sd2
            residual.setdefault(note.charge.name, []).append((squares, note.out.size, spread * note.out.size))
            noisy = True
        elif note.way == "choice":
            law = np.exp(note.here)
            mean, square = (law * note.here).sum(), (law * note.here**2).sum()
            laws.setdefault("choice", []).append((note.here[note.out] - mean, square - mean**2))
        elif note.way == "urn":
            direction = note.there - note.here
            p = (note.here + note.charge.scale) / (note.here + note.charge.scale).sum()
            total, m = (note.here + note.charge.scale).sum(), note.extra
            spread = m * (total + m) / (total + 1) * ((direction**2 * p).sum() - (direction * p).sum() ** 2)
            laws.setdefault(f"urn {side}", []).append((float((direction * (note.out - m * p)).sum()), spread))
        elif note.way == "sparse":
            a, t = math.exp(-1 / note.charge.scale), note.extra - note.here
            p = np.where(t > 0, a ** np.maximum(t, 0) / (1 + a), 1 - a ** np.maximum(1 - t, 0) / (1 + a))
            laws.setdefault("sparse", []).append((note.out[0].size - p.sum(), (p * (1 - p)).sum()))
        elif note.way == "keys":
            p = np.array([keep_probability(int(n), note.charge, note.extra) for n in note.here])
            laws.setdefault("keys", []).append((note.out.sum() - p.sum(), (p * (1 - p)).sum()))
            alone = p[note.here == 1]
            laws.setdefault("lone keys", []).append(
                (note.out[note.here == 1].sum() - alone.sum(), (alone * (1 - alone)).sum())
            )
    if noisy:
        canary.add(side, score)
    return math.sqrt(charged)


def keep_probability(n, charge, per_key, known={}):
    """P(n + X > k) for the truncated geometric law of the charge, k the least that its delta allows."""
    key = (n, charge.scale, charge.delta, per_key)
    if key not in known:
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
        alarm(score < -worst, f"{where}: the noise of '{name}' has {ratio:.3f} of its charged variance")
    for way, pairs_ in laws.items():
        off, variance = map(np.array, zip(*pairs_, strict=True))
        if variance.sum() > 1e-9:
            score = off.sum() / math.sqrt(variance.sum())
            alarm(abs(score) > worst, f"{where}, {way}: off its law by {score:.1f} standard errors")
        else:
            alarm(np.abs(off).sum() > 1e-6, f"{where}, {way}: certain by its law, but varies")


def source_of(gate_class=Gate):
    """For tests: the hooks that audits replace must exist, or they would audit nothing."""
    return [getattr(gate_class, h) for h in ("_noisy", "_noisy_above", "_urn", "_chosen", "_kept")]
