"""Cells: the one spelling of a value, and texts as numbers, amounts and moments."""
