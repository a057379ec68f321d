"""Languages: which of six a table speaks, what other values are called in it, and how no and yes are written."""

from __future__ import annotations

import re
from collections.abc import Iterable

OTHER = {"de": "(andere)", "fr": "(autre)", "es": "(otro)", "it": "(altro)", "nl": "(andere)", "pt": "(outro)"}
# words that tables in one language have and those in the others do not
WORDS = {
    "de": "alter geschlecht beruf einkommen gehalt lohn datum jahr monat wohnort stadt bundesland kreis straße strasse"
    " plz familienstand staatsangehörigkeit anzahl betrag preis ja nein weiblich männlich ledig verheiratet keine und"
    " geburtsjahr geburtsdatum haushalt kunde schule abschluss umsatz menge einheit bezeichnung gruppe",
    "fr": "âge sexe métier profession revenu salaire année mois ville pays oui non femme homme célibataire marié"
    " montant prix nombre département région ménage diplôme",
    "es": "edad sexo ocupación ingreso salario fecha año mes ciudad país sí mujer hombre soltero casado importe precio"
    " número provincia hogar",
    "it": "età sesso professione reddito stipendio anno mese città paese sì donna uomo celibe sposato importo prezzo"
    " numero provincia",
    "nl": "leeftijd geslacht beroep inkomen salaris jaar maand stad ja nee vrouw gehuwd bedrag prijs aantal gemeente",
    "pt": "idade sexo profissão renda salário ano mês cidade país sim não mulher homem solteiro casado valor preço"
    " município",
}
# no and yes, in lower case
ANSWERS: tuple[tuple[str, ...], ...] = (
    ("no", "yes"), ("n", "y"), ("false", "true"), ("0", "1"), ("nein", "ja"), ("non", "oui"), ("no", "sí"),
    ("no", "si"), ("no", "sì"), ("não", "sim"), ("nee", "ja"), ("nej", "ja"), ("nie", "tak"), ("ne", "ano"),
    ("нет", "да"),
)  # fmt: skip
KNOWN = {language: frozenset(words.split()) for language, words in WORDS.items()}
ENOUGH = 2  # words of a language that a table must have


def other_word(texts: Iterable[str]) -> str | None:
    """What other values are called in the language of these headers and values; None: as in English."""
    present = {w.lower() for text in texts for w in re.findall(r"[^\W\d_]+", text)}
    hits = {language: len(present & words) for language, words in KNOWN.items()}
    best = max(hits, key=hits.__getitem__)
    return OTHER[best] if hits[best] >= ENOUGH else None
