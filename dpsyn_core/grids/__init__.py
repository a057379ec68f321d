"""Grids of systems, epsilons and repeats on a table that is declared public."""
