"""The labs as a static folder that needs no server: python -m tools.browser."""
