"""The one step that keeps rules: a change stays for the records, or blocks of them, that break fewer rules after it."""

import numpy as np
import pytest

from dpsyn_core.schema.rules.base import RuleProposal
from dpsyn_core.schema.rules.columns import PLAIN, RuleColumn
from dpsyn_core.schema.rules.repair import accept
from tests.schema.helpers import num, schema

BEFORE = [5, 5, 5, 5, 5, 5]


def column(values):
    return RuleColumn(schema(num("x", 0, 9, 10))["x"], np.array(values), np.full(len(values), PLAIN, dtype=np.uint8))


def accepted(after, faults_before, faults_after, *, rows=range(6), block=None):
    columns = {"x": column(BEFORE)}
    counted = iter([np.array(faults_before), np.array(faults_after)])
    asked = []

    def count(at):
        asked.append((at.tolist(), columns["x"].values.copy()))
        return next(counted)

    block = None if block is None else np.array(block)
    accept(RuleProposal(rows=np.array(list(rows)), cells={"x": column(after)}, block=block), columns, count)
    assert [at for at, _ in asked] == [list(rows)] * 2
    assert asked[0][1].tolist() == BEFORE and asked[1][1][list(rows)].tolist() == after
    return columns["x"].values.tolist()


def test_each_record_is_decided_by_itself_and_one_that_breaks_as_many_goes_back():
    got = accepted([0, 1, 2, 3, 4, 6], [1, 1, 1, 0, 0, 2], [0, 1, 2, 0, 1, 1])
    assert got == [0, 5, 5, 5, 5, 6]


def test_records_of_a_block_change_together_or_not_at_all():
    got = accepted([0, 1, 2, 3, 4, 6], [1, 0, 1, 0, 2, 0], [0, 0, 0, 1, 0, 1], block=[0, 0, 1, 1, 2, 2])
    assert got == [0, 1, 5, 5, 4, 6]


@pytest.mark.parametrize("rows", [[4, 0], [2, 5]])
def test_other_records_stay_as_they_are(rows):
    got = accepted([7, 8], [1, 1], [0, 1], rows=rows)
    assert [got[i] for i in rows] == [7, 5] and [got[i] for i in range(6) if i not in rows] == [5] * 4
