"""Questions that a user declares before a run: what they are, what they need measured, and how a table answers them."""
