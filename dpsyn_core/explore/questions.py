"""Questions that a public table suggests: those that the schema's names suggest, and tables that pairs do not hold."""

from __future__ import annotations

from typing import Any

from dpsyn_core.errors import DPSynError
from dpsyn_core.explore.look import Exploration
from dpsyn_core.explore.triples import COARSE, interactions
from dpsyn_core.questions.check import check
from dpsyn_core.questions.document import Questions
from dpsyn_core.questions.templates import templates

INTERACTS = 0.02  # excess distance from which on a table of three columns is worth declaring
MOST_TABLES = 3  # tables that are proposed; each further question leaves the others less of the budget


def proposed_questions(found: Exploration) -> Questions:
    """Questions to declare before a run on the private table; public, as the explored table was.

    The schema's templates come first. A table of three columns follows where all three together are further than
    chance from what their pairs say, because systems measure pairs by default.
    """
    made: list[Any] = [t.question for t in templates(found.schema)]
    names = {q.name for q in made}
    asked = {frozenset(q.attributes) for q in made}
    tables = 0
    for one in interactions(found):
        if one.excess < INTERACTS or tables == MOST_TABLES:
            break
        name = " x ".join(one.triple)
        if frozenset(one.triple) in asked or name in names:
            continue
        ordered = [found.domain.attributes[found.domain.index(n)] for n in one.triple]
        bins = {a.name: {"count": COARSE} for a in ordered if a.ordered and a.size - a.special > COARSE}
        [question] = Questions.of(
            [{"name": name, "kind": "table", "of": list(one.triple), **({"bins": bins} if bins else {})}]
        ).questions
        try:
            check(question, found.schema)
        except DPSynError:
            continue  # more cells than a question may have
        made.append(question)
        tables += 1
    return Questions(version=1, questions=tuple(made))
