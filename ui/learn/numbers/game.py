"""Membership: the attack as a curve, and as a game.

Lab 11: who is in the table? Attacks on synthetic tables: shadow runs of the engine, and a small one drawn here.

`python -m benchmarks.lessons --only membership` makes many synthetic tables with and without one unusual person; an
attack learns from half of them and is judged on the other half. The small mechanism here is drawn at once: a noisy
histogram, from which a table is drawn.
Source: Shokri, Stronati, Song, Shmatikov 2017 (shadow models); Stadler, Oprisanu, Troncoso 2022 (on synthetic data).

Lab 20: a game. A ledger with a limit, questions about the simulated sample, points for right answers.

The same class word and the same plan give the same answers, so that a class can be compared and a result checked
from its code alone. Noise that repeats protects nobody: this is a game about invented people.
"""

import base64
import hashlib
import math
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.privacy import Budget, trade_off
from ui.learn.numbers.systems import NOT_APPLICABLE, results

Floats = NDArray[np.float64]
MEMBERSHIP_SEED = 11
EPSILONS = (0.3, 1.0, 3.0, 10.0)
SYSTEMS = ("histogram", "rls", "independent", "exact")
# a histogram of 60 people over 12 cells; the person is the only one in the last
CELLS = np.array([11, 9, 8, 7, 6, 5, 5, 4, 3, 1, 1, 0])
RUNS = 400  # live tables of each world


@dataclass(frozen=True, kw_only=True, slots=True)
class RocPoints:
    """An attack: share of tables with the person that it finds, by its false alarms; (points,) each.

    right: how often it is right at the cut that it learnt, when both worlds are as likely. runs: that it is judged on,
    in each world.
    """

    alarms: Floats
    found: Floats
    right: float
    runs: int

    @property
    def margin(self) -> float:
        """Half width of the 95 % interval of `right`, by the normal approximation."""
        return 1.96 * math.sqrt(max(self.right * (1 - self.right), 0.25 / self.runs) / (2 * self.runs))


def shadow(system: str, epsilon: float) -> RocPoints:
    """The attack on tables of the engine, from runs made beforehand; `exact` counts have no epsilon."""
    made = results("membership")
    place = 0 if system == "exact" else list(made["epsilons"]).index(epsilon)
    one = made["systems"][system][place]
    alarms, found = (np.asarray(x, dtype=np.float64) for x in (made["alarms"], one["found"]))
    return RocPoints(alarms=alarms, found=found, right=float(one["right"]), runs=int(made["runs"]) // 2)


def drawn(epsilon: float, seed: int) -> RocPoints:
    """The attack on 2 x RUNS small tables made now: how many of their records lie in the person's cell."""
    rng = np.random.default_rng((MEMBERSHIP_SEED, seed, round(1000 * epsilon)))
    with_person = CELLS.copy()
    with_person[-1] += 1
    inside, outside = (_tables(cells, epsilon, rng) for cells in (with_person, CELLS))
    half, marks = RUNS // 2, np.arange(0, int(max(inside.max(), outside.max())) + 2)

    def reached(tables: NDArray[np.int64]) -> Floats:
        return np.array([(tables >= m).mean() for m in marks])

    alarms, found = reached(outside[half:]), reached(inside[half:])
    cut = int(np.argmax(reached(inside[:half]) - reached(outside[:half])))
    right = 0.5 * float(found[cut] + 1 - alarms[cut])
    return RocPoints(alarms=alarms[::-1], found=found[::-1], right=right, runs=half)


def _tables(cells: NDArray[np.int64], epsilon: float, rng: np.random.Generator) -> NDArray[np.int64]:
    """Records in the last cell of RUNS synthetic tables: geometric noise on every cell, negatives to 0, 60 draws."""
    stop = -math.expm1(-Budget(epsilon=epsilon, delta=0.0).pure().epsilon)
    shape = (RUNS, len(cells))
    noisy = np.maximum(cells + rng.geometric(stop, shape) - rng.geometric(stop, shape), 0).astype(np.float64)
    noisy[noisy.sum(axis=1) == 0] = 1.0
    share = noisy[:, -1] / noisy.sum(axis=1)
    return np.asarray(rng.binomial(int(CELLS.sum()), share), dtype=np.int64)


def limit(alarms: Floats, epsilon: float, delta: float) -> Floats:
    """The most that any attack can find at these false alarms: 1 minus the least misses that epsilon allows."""
    return np.asarray(1 - trade_off(alarms, epsilon, delta))


def person() -> dict[str, str]:
    """The unusual person of the shadow runs: value by column."""
    return {str(k): str(v) for k, v in results("membership")["person"].items()}


LIMIT = 1.0  # epsilon of the whole game
STEP = 0.01  # epsilon is spent in hundredths
TOLERANCE = 0.05  # an answer that is off by this share of the truth wins nothing


@dataclass(frozen=True, kw_only=True, slots=True)
class Question:
    """A count of people. name: of its words. points: for the exact answer. holds: which rows count."""

    name: str
    points: int
    holds: Callable[[Any], Any]


QUESTIONS = (
    Question(name="women", points=10, holds=lambda t: t["SEX"] == "Female"),
    Question(name="children", points=10, holds=lambda t: t["AGE"] < 14),
    Question(name="unemployed", points=15, holds=lambda t: t["EMPSTAT"] == "Unemployed"),
    Question(name="city", points=15, holds=lambda t: t["CITY"] == "Juniper"),
    Question(name="divorced", points=20, holds=lambda t: t["MARST"] == "Divorced"),
    Question(name="professional", points=20, holds=lambda t: t["OCC"] == "Professional"),
    Question(name="rich", points=30, holds=lambda t: (t["INCWAGE"] >= 4000) & (t["INCWAGE"] < NOT_APPLICABLE)),
    Question(name="japanese", points=30, holds=lambda t: t["RACE"] == "Japanese"),
    Question(name="chinese", points=40, holds=lambda t: t["RACE"] == "Chinese"),
    Question(name="oldest", points=60, holds=lambda t: t["AGE"] >= 95),
)


@dataclass(frozen=True, kw_only=True, slots=True)
class GameAnswer:
    """One question that was asked. noisy, truth: counts. won: points."""

    question: Question
    epsilon: float
    noisy: int
    truth: int
    won: float


@cache
def truths() -> tuple[int, ...]:
    """The true counts, in the order of QUESTIONS."""
    import pandas as pd  # heavy

    from dpsyn_core.schema import sample_table

    people = sample_table().to_pandas()
    for name in ("AGE", "INCWAGE"):
        people[name] = pd.to_numeric(people[name])
    return tuple(int(q.holds(people).sum()) for q in QUESTIONS)


def expected_points(question: int, epsilon: float) -> float:
    """Points to expect: the mean of points x (1 - error / reach)+ for Laplace noise; 0 without any budget."""
    if epsilon <= 0:
        return 0.0
    # the mean of (1 - |noise| / t)+ for Laplace noise of scale 1 / epsilon is 1 - (1 - e^-r) / r with r = t epsilon
    reach = TOLERANCE * truths()[question] * epsilon
    return QUESTIONS[question].points * (1 - (1 - math.exp(-reach)) / reach)


def play(word: str, plan: Sequence[tuple[int, float]]) -> list[GameAnswer]:
    """The answers to a plan of (question, epsilon), in order. Raises ValueError for a plan that breaks the rules."""
    spent = 0.0
    out: list[GameAnswer] = []
    for turn, (number, epsilon) in enumerate(plan):
        if not 0 <= number < len(QUESTIONS) or any(number == n for n, _ in plan[:turn]):
            msg = f"question {number} is unknown or was asked before; each of the {len(QUESTIONS)} can be asked once"
            raise ValueError(msg)
        spent += epsilon
        if epsilon < STEP - 1e-9 or spent > LIMIT + 1e-9:
            msg = f"the plan spends {spent:.2f}; each question takes at least {STEP}, all together at most {LIMIT:g}"
            raise ValueError(msg)
        out.append(_answer(word, turn, number, epsilon))
    return out


def _answer(word: str, turn: int, number: int, epsilon: float) -> GameAnswer:
    text = f"{word.strip().lower()}|{turn}|{number}|{round(epsilon / STEP)}"
    rng = np.random.default_rng(int.from_bytes(hashlib.sha256(text.encode()).digest()[:16]))
    stop = -math.expm1(-epsilon)
    truth = truths()[number]
    noisy = truth + int(rng.geometric(stop)) - int(rng.geometric(stop))
    question = QUESTIONS[number]
    won = question.points * max(0.0, 1 - abs(noisy - truth) / (TOLERANCE * truth))
    return GameAnswer(question=question, epsilon=epsilon, noisy=noisy, truth=truth, won=won)


def score(answers: Sequence[GameAnswer]) -> float:
    """Points of a game."""
    return sum(a.won for a in answers)


def left(plan: Sequence[tuple[int, float]]) -> float:
    """Epsilon that is left, in whole steps."""
    return round(LIMIT - sum(e for _, e in plan), 10)


@cache
def best_plan() -> tuple[tuple[int, float], ...]:
    """Where a player who knew all counts would spend each hundredth: greedily, by expected points.

    Expected points of a question are concave in epsilon, so the greedy plan is the best one in steps.
    """
    spent = [0.0] * len(QUESTIONS)
    for _ in range(round(LIMIT / STEP)):
        gains = [expected_points(i, spent[i] + STEP) - expected_points(i, spent[i]) for i in range(len(QUESTIONS))]
        spent[int(np.argmax(gains))] += STEP
    return tuple((i, round(e, 10)) for i, e in enumerate(spent) if e > 0)


def best_expected() -> float:
    """Points that the best plan wins on average."""
    return sum(expected_points(i, e) for i, e in best_plan())


def code(word: str, plan: Sequence[tuple[int, float]]) -> str:
    """The result of a game as letters and digits: the plan, and a mark of the word that it was played with."""
    body = b"".join(struct.pack("BB", n, round(e / STEP)) for n, e in plan)
    return base64.b32encode(_mark(word, body) + body).decode().rstrip("=")


def read_code(word: str, text: str) -> list[GameAnswer]:
    """The game that a code tells. Raises ValueError for one that was not made with this word, or mistyped."""
    clean = "".join(text.split()).upper()
    try:
        raw = base64.b32decode(clean + "=" * (-len(clean) % 8))
    except ValueError as error:
        msg = f"'{text}' is no code of this game: it holds other characters than A to Z and 2 to 7, or lacks some"
        raise ValueError(msg) from error
    mark, body = raw[:4], raw[4:]
    if len(raw) < 4 or mark != _mark(word, body):
        msg = (
            f"'{text}' was not made with the class word '{word}', or was mistyped; ask for the code and the word again"
        )
        raise ValueError(msg)
    return play(word, plan_of(body))


def plan_of(body: bytes) -> list[tuple[int, float]]:
    """The plan in the bytes of a code."""
    return [(n, round(e * STEP, 10)) for n, e in struct.iter_unpack("BB", body)]


def _mark(word: str, body: bytes) -> bytes:
    return hashlib.sha256(f"spend it down|{word.strip().lower()}|".encode() + body).digest()[:4]
