"""Progress callbacks: how a long step reports to a terminal, a page or a file."""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    """Called with the stage's name, how much is done of how much, and an optional convergence value.

    Values must come from gate outputs, public settings or post-processing only.
    """

    def __call__(self, stage: str, done: float, total: float, value: float | None = None) -> None:
        """Reports one step."""


def silent(stage: str, done: float, total: float, value: float | None = None) -> None:
    """Reports nothing."""
