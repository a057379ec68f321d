"""Languages: which one a table speaks, what other values are called in it, and how no and yes are written."""

from __future__ import annotations

import re
from collections.abc import Iterable

OTHER = {
    "de": "(andere)", "fr": "(autre)", "es": "(otro)", "it": "(altro)", "nl": "(andere)", "pt": "(outro)",
    "pl": "(inne)", "cs": "(jiné)", "sv": "(annat)", "da": "(andet)", "fi": "(muu)", "tr": "(diğer)", "ru": "(другое)",
    "uk": "(інше)", "el": "(άλλο)", "ko": "(기타)", "ja": "(その他)", "zh": "(其他)",
}  # fmt: skip
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
    " município nome cidade vendas venda quantidade produto cliente bairro escolaridade faixa outros feminino"
    " masculino solteira casada pedido categoria loja uf endereço etária",
    "pl": "wiek płeć zawód dochód pensja rok miesiąc miasto kraj tak nie kobieta mężczyzna kwota cena liczba"
    " województwo gmina powiat wykształcenie",
    "cs": "věk pohlaví povolání příjem plat rok měsíc město země žena muž částka cena počet okres obec",
    "sv": "ålder kön yrke inkomst lön år månad stad län kommun ja nej kvinna belopp pris antal utbildning",
    "da": "alder køn erhverv indkomst løn år måned kommune ja nej kvinde mand beløb pris antal uddannelse",
    "fi": "ikä sukupuoli ammatti tulot palkka vuosi kuukausi kaupunki maa kyllä ei nainen mies summa hinta määrä kunta",
    "tr": "yaş cinsiyet meslek gelir maaş yıl şehir ülke evet hayır kadın erkek tutar fiyat sayı ilçe eğitim",
    "ru": "возраст пол профессия доход зарплата год месяц город страна да нет женский мужской сумма цена количество"
    " область район дата образование",
    "uk": "вік стать професія дохід зарплата рік місяць місто країна так ні жіноча чоловіча сума ціна кількість"
    " область район дата освіта",
}
# letters that one language alone writes, the first that a table has; Chinese has those that are left. Kanji count as
# Japanese where China writes another form
LETTERS = {"ko": "[가-힣]", "ja": "[ぁ-ゖァ-ヺ県円売歳齢収図歴価働込駅]", "zh": "[一-鿿]", "el": "[α-ωά-ώ]{3}"}
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
    texts = [text.lower() for text in texts]
    for language, letters in LETTERS.items():
        if sum(bool(re.search(letters, text)) for text in texts) >= ENOUGH:
            return OTHER[language]
    present = {w for text in texts for w in re.findall(r"[^\W\d_]+", text)}
    hits = {language: len(present & words) for language, words in KNOWN.items()}
    best = max(hits, key=hits.__getitem__)
    return OTHER[best] if hits[best] >= ENOUGH else None
