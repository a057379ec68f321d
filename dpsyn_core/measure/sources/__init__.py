"""Sources: where records come from; a source bounds them, and gives the counter that the gate calls."""
