"""Random bits: a ChaCha20 stream keyed by the operating system; it has no seed and cannot be copied."""

from __future__ import annotations

import os
import threading
from typing import Any, NoReturn, Protocol

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.errors import EngineError

REKEY_BYTES = 1 << 30  # far below the 2^38 bytes after which a 32-bit block counter would wrap
CHUNK_BYTES = 1 << 20


class Bits(Protocol):
    """A source of independent fair bits."""

    def words(self, size: int) -> NDArray[np.uint64]:
        """Independent uniform 64-bit words, shape (size,)."""


class SystemBits:
    """ChaCha20 keyed by os.urandom; keyed anew after 1 GiB and in a forked child."""

    def __init__(self) -> None:
        """Takes the first key from the operating system."""
        self._lock = threading.Lock()
        self._rekey()

    def _rekey(self) -> None:
        from cryptography.hazmat.primitives.ciphers import Cipher
        from cryptography.hazmat.primitives.ciphers.algorithms import ChaCha20

        nonce = bytes(16)  # the key is fresh, so block counter and nonce may start at zero
        self._encryptor = Cipher(ChaCha20(os.urandom(32), nonce), mode=None).encryptor()
        self._left = REKEY_BYTES
        self._owner = os.getpid()

    def words(self, size: int) -> NDArray[np.uint64]:
        """Independent uniform 64-bit words, shape (size,)."""
        out = np.empty(size, dtype=np.uint64)
        view = out.data.cast("B")
        with self._lock:
            for start in range(0, len(view), CHUNK_BYTES):
                part = view[start : start + CHUNK_BYTES]
                if self._owner != os.getpid() or self._left < len(part):
                    self._rekey()
                part[:] = self._encryptor.update(_ZEROS[: len(part)])
                self._left -= len(part)
        return out

    def __reduce__(self) -> NoReturn:
        """Refuses to be copied or pickled: two copies would draw the same noise."""
        msg = "a source of noise cannot be copied or pickled; make a new one in the other process"
        raise EngineError(msg)

    def __deepcopy__(self, memo: dict[int, Any]) -> NoReturn:
        """Refuses, as above."""
        self.__reduce__()

    def __copy__(self) -> NoReturn:
        """Refuses, as above."""
        self.__reduce__()


_ZEROS = memoryview(bytes(CHUNK_BYTES))
