"""Noisy marginals as values, and arithmetic on them."""
