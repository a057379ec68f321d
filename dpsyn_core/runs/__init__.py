"""Runs: what spends budget. Each kind of release is a file; all of them are opened by `runs.open`."""
