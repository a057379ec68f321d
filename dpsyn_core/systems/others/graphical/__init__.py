"""Graphical models fitted to noisy marginals: junction trees, mirror descent, sampling. Post-processing only."""
