"""Checks a manifest against the files and the released tables that it names."""
