"""Panels of the Report page: one question each."""
