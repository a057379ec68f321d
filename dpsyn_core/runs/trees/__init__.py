"""Linked tables: a root with all that hangs on it is one individual; counted through the gate; output has new keys."""
