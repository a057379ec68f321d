"""Exploration of a public table: what it shows about its columns, and what to declare and measure because of it."""
