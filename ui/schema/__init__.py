"""The Schema page."""
