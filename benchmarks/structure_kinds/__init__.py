"""Kinds of tables whose structure analysts ask for, generated with a known truth: one kind a file, see `kind.Kind`."""
