"""Schemas from other people's documents."""
