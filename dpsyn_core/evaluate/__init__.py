"""Metrics that compare a synthetic table with the real one: they read private data and are never DP."""
