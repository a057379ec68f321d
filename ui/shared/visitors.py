"""Visitors without a login: random tokens that this server has issued, and no others."""

import hashlib
import hmac
import os
import secrets
from pathlib import Path

from dpsyn_core.errors import OutputError
from dpsyn_core.files import home, put_private

KEY = "visitors.key"  # in the folder of ledger and runs; removing it makes every visitor a new one
HALF = 64  # hexadecimal digits of the random part, and of the server's mark on it


def issue() -> str:
    """A new token: 256 random bits, and the server's mark (HMAC-SHA-256) on them. Raises OutputError."""
    drawn = secrets.token_hex(HALF // 2)
    return drawn + marked(drawn.encode())


def issued(token: str | None) -> bool:
    """Whether this server, or an earlier one with the same folder, has issued the token.

    A visitor who could choose a token could set it in another's browser and find that person's tables under it.
    """
    if token is None or len(token) != 2 * HALF or not token.isascii():
        return False
    return hmac.compare_digest(marked(token[:HALF].encode()), token[HALF:])


def marked(data: bytes) -> str:
    """A digest of data under this server's key: without the key nobody can try what the data were."""
    return hmac.new(_key(home() / KEY), data, hashlib.sha256).hexdigest()


def _key(path: Path) -> bytes:
    """The server's key, made at the first visit; whole from the moment at which it has its name."""
    try:
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            part = path.with_name(f"{KEY}.{secrets.token_hex(6)}")
            put_private(part, secrets.token_bytes(32))
            try:
                os.link(part, path)  # unlike a replacement, it keeps a key that another server made meanwhile
            except FileExistsError:
                pass
            finally:
                part.unlink()
        return path.read_bytes()
    except OSError as error:
        msg = f"'{path.name}' cannot be kept in the folder of runs ({error.strerror}); set DPSYN_HOME to another folder"
        raise OutputError(msg) from error
