"""The Grid page: systems, epsilons and repeats side by side, on a table that is declared public."""
