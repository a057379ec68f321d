"""Experiments that decisions rest on: each is a module that prints its table, named where the decision is told."""
