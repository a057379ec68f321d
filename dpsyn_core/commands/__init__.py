"""Sub-commands of `dpsyn`: `add` declares arguments and imports nothing heavy, `run` does the work."""

from dpsyn_core.loading import face

__getattr__, __dir__ = face(
    __name__,
    """
cli: main
""",
)
