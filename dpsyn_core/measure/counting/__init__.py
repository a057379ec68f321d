"""Exact counts of coded tables. Private: only `measurement` (and metrics, on the owner's side) may call it."""
