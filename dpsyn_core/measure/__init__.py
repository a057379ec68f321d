"""The only place where exact counts meet noise: the gate, and what releases through it."""
