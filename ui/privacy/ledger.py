"""The ledger of the loaded dataset as the side panel and the Privacy page show it."""

from collections import Counter
from dataclasses import dataclass

import streamlit as st

from dpsyn_core.errors import DPSynError
from dpsyn_core.privacy import Budget, Ledger, Unit
from ui.shared.state import Workspace
from ui.shared.text import amount, capital, literal, local, plain, sentence, t
from ui.shared.theme import note

SEEN = 1.005  # times the difference, from which on what is left differs from it on the screen


@dataclass(frozen=True)
class Spent:
    """What all runs on a dataset cost for the schema's unit of privacy, and what the limit leaves for one more run.

    epsilon None: unbounded. unbounded: how many of the runs give this unit no guarantee. sums: for every unit that a
    run protects, in words, with an epsilon or None.
    """

    runs: int
    epsilon: float | None
    limit: float | None
    left: float | None
    unbounded: int
    sums: tuple[tuple[str, float | None], ...]
    each: tuple[float, ...] = ()  # epsilon of every run by itself
    delta: float = 0.0  # the largest of them, at which the sum holds

    def sentence(self) -> str:
        """Why the sum is what it is, where several runs make it; empty otherwise."""
        if self.epsilon is None or len(self.each) < 2:
            return ""
        counts = Counter(local(e, "g") for e in self.each)
        each = [t("sum.one", epsilon=e) if n == 1 else t("sum.times", count=n, epsilon=e) for e, n in counts.items()]
        listed = ", ".join(each)
        total, added = local(self.epsilon, ".3g"), local(sum(self.each), ".3g")
        if total == added:
            return t("sum.pure", list=listed, total=total)
        return t("sum.several", list=capital(listed), plain=added, total=total, delta=amount(self.delta))

    def next_run(self, epsilon: float) -> str:
        """What one more run may cost under the limit, why that is more than the difference, and whether it fits."""
        if self.limit is None or self.unbounded or self.epsilon is None:
            return ""
        left = self.left or 0.0
        said = [t("ledger.left", left=local(left, ".3g"), limit=local(self.limit, "g"))]
        if self.runs and left > SEEN * (self.limit - self.epsilon):
            less = local(max(0.0, self.limit - self.epsilon), ".3g")
            said.append(t("ledger.why", less=less, left=local(left, ".3g"), limit=local(self.limit, "g")))
        said.append(t("ledger.fits" if epsilon <= left else "ledger.too_much", epsilon=amount(epsilon)))
        return " ".join(said)


def spent(space: Workspace) -> Spent | None:
    """What the dataset's ledger holds; None without a dataset. The sums are kept until a run adds to them."""
    if not space.serial:
        return None
    book, name = Ledger(), space.ledger
    unit = Unit() if space.unit is None else Unit.of(space.unit)
    stamp = (name, unit, *_changed(book))
    kept = space.memo.get("ledger")
    if kept is None or kept[0] != stamp:
        got, mine = book.summary(name), book.cost_for(name, unit)
        sums = tuple((s.who, s.epsilon) for s in got.sums)
        runs = book.entries(name)
        each, delta = tuple(e.epsilon for e in runs), max((e.delta for e in runs), default=0.0)
        made = Spent(
            got.runs, mine.epsilon, got.limit_epsilon, mine.epsilon_left, len(mine.unbounded), sums, each, delta
        )
        kept = space.memo["ledger"] = (stamp, made)
    return kept[1]


def _changed(book: Ledger) -> tuple[int, int]:
    try:
        found = book.path.stat()
    except OSError:
        return (0, 0)
    return (found.st_mtime_ns, found.st_size)


def limit_field(space: Workspace) -> None:
    """Sets what all runs on the dataset may cost together."""
    if not space.serial:
        return
    book, name = Ledger(), space.ledger
    limit = book.limit(name)
    found = spent(space)
    said = () if found is None else (found.sentence(), found.next_run(space.choices.epsilon))
    for words in filter(None, said):
        note(words)
    if found is not None and len(found.sums) > 1:
        lines = [
            t("limit.sum", who=w, epsilon=local(e, ".3g")) if e else t("limit.no_sum", who=w) for w, e in found.sums
        ]
        note(t("limit.sums", sums="; ".join(lines)))
    with st.form(f"limit_{space.serial}", border=False):
        first, second = st.columns([3, 2], vertical_alignment="bottom")
        usual, tip = plain(limit.epsilon) if limit else "", t("limit.help")
        text = first.text_input(t("limit.label"), usual, placeholder=t("limit.blank"), key="limit_text", help=tip)
        pressed = second.form_submit_button(t("limit.set"), width="stretch")
    note(t("limit.note"))
    if not pressed:
        return
    try:
        wanted = None if not (text or "").strip() else Budget(epsilon=float(text or ""), delta=space.choices.delta)
        book.set_limit(name, wanted)
    except DPSynError as error:
        st.error(literal(sentence(error)))
    except ValueError:
        st.error(t("limit.problem", got=literal((text or "")[:40])))
    else:
        st.rerun()
