"""Which headers name a person or a thing of a person's: words of many languages, and a small grammar of their kinds.

A header is cut into words, each word has a kind, one letter, and the string of kinds is matched: patient_no is `pn`,
Kontonummer `tn`, card_type `tx`. English, German, French, Spanish, Italian, Dutch and Portuguese,
and the words for persons and numbers of Central and Northern Europe and of Turkish.
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from functools import lru_cache
from pathlib import Path

KINDS: dict[str, str] = tomllib.loads(Path(__file__).with_name("individual_words.toml").read_text("utf-8"))
KNOWN = {word: kind for kind, words in KINDS.items() for word in words.split()}
SMALL = frozenset(
    re.findall(  # between the words that matter
        r"\w+", "of de del della di da do du des la le les el il the der die das van von for per et und and"
    )
)
# several words that mean what none of them does
MEANT = "hospitalnumber hospitalno hospno hospnum contactnumber contactno codicefiscale partitaiva tesserasanitaria"
PHRASES = dict.fromkeys(re.findall(r"\w+", MEANT + " cartaosus rodnecislo"), "v")
WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
CAPITALS = re.compile(r"[A-Z]{3,}|[A-Z]?[a-z]+")  # read so too: CPRnr, PATIENTid
LINKS = ("", "n", "en", "s", "es", "er", "e")  # between the parts of a German or Dutch compound
PLURALS = ("es", "en", "s", "n", "i", "e", "x")
LEAST = 5  # letters of a word that a longer unknown one may end in: Krankenversicherten
SOLE = frozenset(
    WORD.findall("nr no number nummer serial account konto login pan pk contato contacto contatto strasse")
)
SPELT = re.compile(r"#|\b[nN]\s?[°º]")  # signs for "number"
PATTERNS = {
    # customer_no, hospital_account_number, Kundenschluessel; patient; id_paciente, numero_cliente, codigo_alumno
    "person": r"(?!c).*[phwP]q*([nk]+|[iz][nkz]*)|[qz]*p+|[qg]*[nik]+q*[phw][qphwt]*|z+[phwP]+",
    # card_no, numero de compte; phone, home_phone, email_cliente, passport_no; street_no; row_id, uuid, nr
    "thing": r"(?!c).*([tlu]q*|vk*)[nz]+|[qg]*[nik]+q*[tlu][qpt]*|(?!c).*a[qgnipthwavrz]*|(?!c).*v[qgnipthwavrzk]*"
    r"|(?!c).*r[^ock]*|(.*[^o])?i[nk]*|i[^oc]+|[phwP]+l|[qgphwP]*s(on|[nqphw])+|[gphwP]+s",
    "name": r"(q*[gphwP]+)?f+[gphwf]*|[tlu]+w|w[tlu]+",
}


def named_by(header: str) -> str:
    """What a header says that its column names: 'person', 'thing' of a person's, 'name' of one; else an empty text."""
    for cut in (WORD, CAPITALS):
        words = [w for w in _words(header, cut) if w not in SMALL and len(w) > 1]
        kinds = PHRASES.get("".join(words)) or "".join(_kinds(w) for w in words)
        if len(words) == 1 and (words[0] in SOLE or (kinds == "u" and header.strip().isupper())):
            return "thing"
        if what := next((what for what, pattern in PATTERNS.items() if re.fullmatch(pattern, kinds)), ""):
            return what
    return ""


def speaks_of_persons(header: str) -> bool:
    """Whether a header is a word for persons, which may say who they are or of which kind: teacher, Fahrer, host."""
    return re.fullmatch("q*[phP]+", "".join(_kinds(w) for w in _words(header))) is not None


def names_another(header: str) -> bool:
    """Whether a header speaks of what is numbered too and belongs to no person: product_code, store, icd10."""
    return any("o" in _kinds(w) for w in _words(header))


def measures(header: str) -> bool:
    """Whether a header speaks of an amount or a time, and not of its number: population, net_income, created."""
    kinds = "".join(_kinds(w) for w in _words(header))
    return "m" in kinds and not set(kinds) & set("nik")


def _words(header: str, cut: re.Pattern[str] = WORD) -> list[str]:
    """In lower case without accents; umlauts are written out."""
    letters = zip("äöüßÄÖÜøØłŁ", ("ae", "oe", "ue", "ss", "Ae", "Oe", "Ue", "o", "O", "l", "L"), strict=True)
    written = SPELT.sub(" no ", unicodedata.normalize("NFC", header)).translate({ord(a): b for a, b in letters})
    plain = "".join(c for c in unicodedata.normalize("NFD", written) if not unicodedata.combining(c))
    return [w.lower() for w in cut.findall(plain)]


@lru_cache(maxsize=4096)
def _kinds(word: str) -> str:
    """The kind of a word, P for several persons or things, or those of the two parts of a compound; x where unknown."""
    if word in KNOWN:
        return KNOWN[word]
    if _plural(word):
        return "P"
    for cut in range(len(word) - 2, 1, -1):  # the longest first part first
        first, last = word[:cut], word[cut:]
        if last in KNOWN and KNOWN[last] in "nikfarovw" and last != "ident" and (head := _head(first)):
            return head + KNOWN[last]
        if first in KNOWN and KNOWN[first] in "nikf" and len(last) > 3 and KNOWN.get(last, "x") in "phtarvw":
            return KNOWN[first] + KNOWN[last]  # numcliente
    return "P" if _head(word) in ("p", "h", "t", "l", "w") else "x"  # Kreditkarten


def _plural(word: str) -> bool:
    stems = [word.removesuffix(e) for e in PLURALS if word.endswith(e) and len(word) - len(e) > 3]
    return any({KNOWN.get(s, "x"), KNOWN.get(s + "e", "x")} & set("phtarlw") for s in stems)


def _head(part: str) -> str:
    """The kind of the first part of a compound, which may end in a letter or two that link it to the second."""
    for link in LINKS:
        stem = part.removesuffix(link) if link else part
        if KNOWN.get(stem, "x") in "phtaronvlw":
            return KNOWN[stem]
        for head, kind in KNOWN.items():
            if kind in "phtlw" and len(head) >= LEAST and stem.endswith(head):
                return kind
    return ""
