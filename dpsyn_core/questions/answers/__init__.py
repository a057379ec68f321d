"""Inference from released values alone: answers with intervals, draws of the noise, and combining several tables."""

from __future__ import annotations

from dpsyn_core.questions.answers.combination import Combined as Combined
from dpsyn_core.questions.answers.combination import combine as combine
