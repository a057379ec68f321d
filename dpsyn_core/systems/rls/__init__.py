"""Record least squares, the default system: what it measures, and how it divides the budget."""
