"""Sub-commands of `dpsyn`: `add` declares arguments and imports nothing heavy, `run` does the work."""
