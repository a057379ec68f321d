"""Adapters: the engine behind the interfaces of other tools."""
