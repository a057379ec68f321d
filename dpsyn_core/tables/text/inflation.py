"""Compressed input: inflated under a cap, so that a small file cannot fill the memory."""

from __future__ import annotations

import zlib
from collections.abc import Iterator

from dpsyn_core.errors import TableError

MAX_RATIO = 100
FREE = 1 << 20  # bytes that may come out whatever the ratio: short repetitive tables compress well
PIECE = 1 << 22


def gunzip(data: memoryview, max_bytes: int) -> bytes:
    """Inflates gzip data of one or more members.

    Args:
        data: the compressed file.
        max_bytes: cap on what comes out; beside it, at most 100 times the compressed size.

    Raises:
        TableError: above a cap, cut short, or damaged.
    """
    cap = min(max_bytes, max(FREE, MAX_RATIO * len(data)))
    out, size = [], 0
    for piece in _pieces(data):
        size += len(piece)
        if size > cap:
            why = f"{max_bytes} bytes" if cap == max_bytes else f"{MAX_RATIO} times its compressed size"
            msg = f"the compressed file inflates to more than {why}; inflate it yourself and give the plain file"
            raise TableError(msg)
        out.append(piece)
    return b"".join(out)


def _pieces(data: memoryview) -> Iterator[bytes]:
    rest: bytes | memoryview = data
    try:
        while len(rest):
            member = zlib.decompressobj(wbits=31)
            feed: bytes | memoryview = rest
            while not member.eof:
                piece = member.decompress(bytes(feed[:PIECE]) if feed is rest else feed, PIECE)
                if feed is rest:
                    rest = rest[PIECE:]
                yield piece
                feed = member.unconsumed_tail or rest
                if not member.eof and not len(feed) and not piece:
                    msg = "the compressed file is cut short; fetch it again"
                    raise TableError(msg)
            rest = member.unused_data + bytes(rest) if member.unused_data else rest
            rest = memoryview(bytes(rest).lstrip(b"\0")) if len(rest) else rest
    except zlib.error as error:
        msg = "the compressed file is damaged; fetch it again"
        raise TableError(msg) from error
