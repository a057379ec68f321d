"""Delimited text: bytes, their encoding, the dialect of the file, its lines, and records as columns of text."""
