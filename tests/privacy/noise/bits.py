"""Sources of bits for tests: seeded, or reading from a list."""

import numpy as np


class SeededBits:
    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def words(self, size):
        return self.rng.integers(0, 2**64, size=size, dtype=np.uint64)


class ListedBits:
    """Hands out the given words, then fails."""

    def __init__(self, words):
        self.left = list(words)

    def words(self, size):
        out, self.left = self.left[:size], self.left[size:]
        assert len(out) == size, "more words were drawn than the test foresaw"
        return np.array(out, dtype=np.uint64)
