"""Alphabets: which encoding a header line has whose letters are Japanese, Cyrillic or Greek."""

from __future__ import annotations

import re

MOSTLY = 4  # letters of another alphabet from which a header line is taken to be in it
VOWELS = {"cp1251": "аеёиоуыэюяАЕЁИОУЫЭЮЯіїє", "cp1253": "αεηιουωάέήίόύώΑΕΗΙΟΥΩΆΈΉΊΌΎΏ"}


def of_letters(line: bytes) -> str | None:
    """The encoding of a header line that is not UTF-8 and has mostly letters of another alphabet than the Latin one.

    In Western European text no word is of accented letters alone. Shift JIS has no half kana in headers, which other
    pairs of bytes would be read as; Cyrillic and Greek are told apart by their vowels, and no byte may be one that the
    encoding lacks.
    """
    plain = sum(chr(b).isalpha() for b in line if b < 128)
    high = [b for b in line if b >= 128]
    if len(high) < MOSTLY or len(high) <= plain or 0 in line:
        return None
    try:
        japanese = line.decode("shift_jis")
    except UnicodeDecodeError:
        japanese = ""
    if japanese and not re.search("[\uff61-\uff9f]", japanese) and any(0x81 <= b <= 0x9F for b in high):
        return "shift_jis"
    vowels = {name: sum(c in letters for c in line.decode(name, "replace")) for name, letters in VOWELS.items()}
    best = max(vowels, key=vowels.__getitem__)
    text = line.decode(best, "replace")
    words = [] if "\ufffd" in text else re.findall(r"[^\W\d_]+", text)
    whole = sum(len(w) for w in words if all(ord(c) > 0x300 for c in w))
    return best if words and vowels[best] >= len(high) / 4 and 2 * whole > sum(map(len, words)) else None
