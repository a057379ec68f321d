"""The Questions page."""
