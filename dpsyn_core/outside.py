"""Words from outside that come near the file system: the name of a file in a folder, and a name from a label."""

from __future__ import annotations

import re
from pathlib import Path

from dpsyn_core.errors import InputError
from dpsyn_core.platforms import unusable

LONGEST_NAME = 40  # characters of a file name that is made of a person's words, without its ending


def below(folder: Path, name: str) -> Path:
    """A file of a folder. Raises InputError for a name that leads out of it, by its words or by a link."""
    inside, path = folder.resolve(), folder / name
    if "\0" in name or inside not in path.resolve().parents:
        msg = f"{name[:80]!a} names no file of its folder; give a name without a path"
        raise InputError(msg)
    return path


def file_word(text: str, otherwise: str) -> str:
    """A file name, without its ending, of a person's words: letters, digits, _ and -; else `otherwise`."""
    word = re.sub(r"[^\w-]+", "-", text).strip("-")[:LONGEST_NAME]
    return f"{word}_" if word and unusable(word) else word or otherwise
