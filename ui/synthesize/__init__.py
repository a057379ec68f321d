"""The Synthesize page."""
