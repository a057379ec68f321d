"""One-way tables of ordered columns: their shape, ends, heaps and empty runs, from noisy counts. Blind."""
