"""Which pairs are scored where a target is declared: all, or those of columns that tell most of it."""

from types import SimpleNamespace

import numpy as np
import pytest

from dpsyn_core.privacy.budget import Cost
from dpsyn_core.schema.domain import CodedAttribute, Domain
from dpsyn_core.systems.rls import question_tables
from dpsyn_core.systems.rls.tuning import TUNING

NAMES = [f"c{i:02d}" for i in range(20)]


@pytest.mark.parametrize(("noise", "all_pairs"), [(0.04, True), (0.07, False)])
def test_columns_that_tell_little_of_a_target_are_not_scored_where_all_scores_would_be_noise(
    monkeypatch, noise, all_pairs
):
    domain = Domain(tuple(CodedAttribute(name=n, size=3) for n in NAMES))
    view = SimpleNamespace(domain=domain, total=1000.0, recodes=lambda _: {}, product=lambda *_: np.full((3, 3), 111.0))
    of_score = lambda _, pairs: noise * view.total * (pairs / 190) ** 0.5  # noqa: E731
    plan = SimpleNamespace(
        noise=SimpleNamespace(of_score=of_score, root=2.0), scores=Cost(rho=1.0), tuning=TUNING, mixed_resolution=9.0
    )
    need = SimpleNamespace(target="c00", attributes=tuple(NAMES))
    monkeypatch.setattr(
        question_tables, "score_sets", lambda _, pairs, *a, **k: (np.arange(len(pairs), dtype=float), 1.0)
    )
    scored, left = question_tables.pairs_to_score(None, view, plan, "c00", [need], gate=None)
    with_target = {p for p in scored if "c00" in p}
    assert len(with_target) == 19, "each column is scored with the target"
    assert (len(scored) == 190) is all_pairs
    assert left.rho == pytest.approx(1.0 if all_pairs else 0.5)
    if not all_pairs:
        assert ("c18", "c19") in scored and ("c01", "c02") not in scored


def test_likely_answers_stand_in_the_order_of_the_questions(monkeypatch):
    needs = [SimpleNamespace(target=target) for target in ("t", None, None, "t")]
    monkeypatch.setattr(question_tables, "likely_tables", lambda asked, *_, **__: [(1.0, 10.0), (2.0, 20.0)])
    monkeypatch.setattr(question_tables, "likely_predictions", lambda asked, *_, **__: [(8.0, 80.0), (9.0, 90.0)])
    workload = SimpleNamespace(needs=needs)
    expected = [(8.0, 80.0), (1.0, 10.0), (2.0, 20.0), (9.0, 90.0)]
    assert question_tables.likely_answers(workload, None, None, total=1.0) == expected
    monkeypatch.setattr(question_tables, "likely_predictions", lambda asked, *_, **__: [])
    assert question_tables.likely_answers(workload, None, None, total=1.0) == [], "without pairs"
