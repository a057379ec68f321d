"""Which headers name a person or a thing of a person's: words of seven languages, and a small grammar of their kinds.

A header is cut into words, each word has a kind, one letter, and the string of kinds is matched: patient_no is `pn`,
Kontonummer `tn`, card_type `tx`. English, German, French, Spanish, Italian, Dutch and Portuguese.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

# fmt: off
KINDS = {  # words without accents, umlauts written out, in the singular
    "n": "number no nr num nbr nro nummer numero kennnummer kennziffer serial identification identifikation"
    " identificacion identificazione identificacao identificatie identity identifizierung ref reference referenz"
    " referencia riferimento referentie",
    "i": "id ids uid uuid guid identifier identifiant ident identificador identificativo identifikator kennung",
    # with a person alone: the code of a policy tells its kind
    "k": "code kode codigo codice cod cf key clave chiave chave cle sleutel schluessel kuerzel",
    # a column that is called so holds persons, or accounts
    "p": "person persona personne persoon pessoa subject patient paciente paziente client cliente kunde klant customer"
    " user usuario utente utilisateur benutzer nutzer gebruiker utilizador respondent repondant encuestado participant"
    " participante partecipante teilnehmer deelnemer proband proefpersoon member mitglied membre miembro membro"
    " employee mitarbeiter employe empleado dipendente medewerker funcionario salarie student studente studierende"
    " etudiant estudante estudiante alumno aluno alunno eleve schueler leerling pupil household haushalt menage hogar"
    " huishouden individual individu individuo worker arbeiter panelist firm ansprechpartner kontaktperson"
    " contactperson"
    " contactpersoon",
    # persons that a header names for other reasons too: with a number, a code or a name alone
    "h": "pat cust cli subj usubj emp empl stud resp usr adh adherant alu func mbr kd pers hh lid socio empfaenger"
    " flyer reviewer rater caller insured versicherte versicherter versicherungsnehmer assure asegurado assicurato"
    " segurado verzekerde driver fahrer conducteur conducente bestuurder motorista tenant mieter locataire inquilino"
    " huurder borrower kreditnehmer emprunteur claimant applicant antragsteller bewerber candidate kandidat candidat"
    " candidato voter waehler electeur elector learner taxpayer steuerzahler contribuable contribuyente contribuente"
    " contribuinte cardholder policyholder eigentuemer halter proprietaire propietario beneficiary beneficiaire"
    " beneficiario donor spender donneur donante citizen buerger ciudadano cittadino resident bewohner inmate prisoner"
    " detainee haeftling passenger passagier passager pasajero passeggero guest gast host visitor besucher subscriber"
    " abonnent abonne abonado doctor medico arzt medecin physician nurse teacher lehrer enseignant profesor docente"
    " docent provider child mother father parent spouse mutter vater family familie familia famiglia famille staff"
    " personnel personal personeel personale angestellte beschaeftigte werknemer travailleur trabajador lavoratore"
    " trabalhador assistito adherent afiliado mandant klient player spieler buyer seller agent offender defendant"
    " panel husband wife guardian tutor apoderado mae pai madre padre mere pere kin mitgl allocataire responsavel"
    " responsable huisarts",
    "P": "owner pt pts cl",  # the same, and never behind a thing (phone_owner) nor as a part of a longer word
    "w": "holder inhaber houder titulaire titular titolare intestatario",  # alone with a thing too: account_holder
    # things of a person's, and records: with a number alone
    "t": "account konto compte cuenta conto conta rekening acct acc card karte carte tarjeta tessera carta kaart"
    " cartao policy police polizza poliza polis apolice contract vertrag contrat contrato contratto permis permiso"
    " patente carteira registration case fall caso file dossier akte expediente fascicolo prontuario record device"
    " geraet vehicle fahrzeug vehicule vehiculo veicolo voertuig chassis fahrgestell ausweis personalausweis reisepass"
    " insurance versicherung assurance seguro assicurazione verzekering security securite seguridad seguranca secu ni"
    " nhs medicare medicaid tax steuer fiscal fiscale membership order bestellung auftrag commande pedido ordine"
    " bestelling encomenda invoice rechnung facture factura fattura factuur fatura booking buchung reservation reserva"
    " prenotazione boeking claim schaden sinistre siniestro sinistro transaction transaktion trans ticket receipt loan"
    " darlehen kredit pret prestamo prestito lening payroll historia burgerservice matrikel cartella dl reclamo boleta"
    " recibo registro document documento login cell pan behandlung form krankenkasse kv sv rv acno badge chart"
    " roll screening rand"
    " enrolment enrollment pol kto cpte fisc processo",
    "l": "licence license fuehrerschein rijbewijs licencia licenza",  # behind a person, its number: DriversLicense
    # words that name an identifier, a name or a connection of a person by themselves
    "a": "email mail phone telephone telefon telefoon fax gsm mob handy mobile mobil mobiel portable address adresse"
    " adres addr anschrift ip username nickname pseudo surname forename fname lname vorname nachname familienname"
    " geburtsname rufname achternaam voornaam roepnaam lastname firstname fullname kenteken plate kennzeichen"
    " rijksregister aktenzeichen pseudonym adresregel straatnaam wohnstrasse",
    # numbers that a state, an authority, a bank, a hospital or a trial gives to a person; a code of one is one too
    "v": "mrn ssn nino bsn ahv nss upn tin seqn pid imei imsi msisdn iban vin passport paspoort phn nric hkid kvnr"
    " svnr rvnr emplid usubjid subjid ptid ptno ptnum patid hospno hospnum aadhaar aadhar adhaar addhaar addhar adhar"
    " aadar cuit cuil clabe dni pesel egn oib jmbg emso emsho amka snils isikukood henkilotunnus henkiloetunnus hetu"
    " kennitala personnummer personnr fodselsnummer foedselsnummer cprnr ppsn niss insz ssin nrn mykad tckn kimlik"
    " cnic bvn nin enrolid uhid philhealth rijksregisternummer",
    # the same, and ordinary words or other things as well: with a number, or alone in capitals
    "u": "ac cc tdc sin sins nis inn pps nik ktp dpi cnp nhi tfn afm taj cin nit nid sss rrn dui ine rib hic cpr",
    # addresses and streets: with the number of a house, a line or a person
    "s": "adr strasse straat street rue calle via rua",
    # what stands behind an identifier that was hidden, or that points to a table
    "z": "hash hashed sha md hmac token encrypted encoded anon pseudonymized fk pk sk",
    # the same in languages in which a word that follows says whose it is, and not a kind of it
    "r": "nif nie cpf cns pis rg rut curp rfc cedula nir avs ipp cnh ndoc passeport pasaporte passaporte passaporto"
    " courriel correo domicilio morada tel telefono telefone movil celular cellulare telemovel direccion indirizzo"
    " endereco prenom"
    " apellido apellidos cognome sobrenome apelido nominativo matricule matricola matricula targa placa"
    " immatriculation",
    "f": "name nm nom nombre nome naam cname ename paterno materno nominee",
    "g": "first last middle full maiden given birth legal real display screen usage naissance complet complete"
    " completo primer segundo second usuel contact kontakt contacto contatto contato ap notfall emergency urgency"
    " urgence billing shipping mailing residential next",
    "q": "primary secondary main home work business private alternate other bank bancaire bancaria bancario credit"
    " debit credito debito social sociale electronico eletronico clinica national nacional nationale nazionale"
    " principal casa trabajo fixe study survey unique internal seq iva sus sanitaria maladie health line linie ligne"
    " linea linha regel zeile postale residenza residencia pro",
    "c": "has have is own owns with any hat besitzt tiene ha possui heeft count anzahl aantal nb quantidade cantidad",
    # numbered too, and no person
    "o": "row product item article artikel produit producto prodotto produto sku country state county region city"
    " province district municipality zone area location place store shop branch department dept category class course"
    " school hospital clinic ward room bed building floor warehouse supplier vendor manufacturer brand model make type"
    " group cluster segment tract block language currency airline carrier route movie song track album genre game team"
    " league season event campaign question test exam lab drug diagnosis icd gene protein species plot site batch"
    " version wave round time date day week month year period disposition source land pays pais paese stadt ort"
    " filiale kategorie gruppe typ tipo soort klasse schule ville zip plz postcode postal postleitzahl cap cep atc ndc"
    " naics nace sic flight flug vol vuelo imdb tmdb tvdb isbn issn ean upc gtin asin stock stockcode geoid fips film"
    " status statut stato estado rate ratecode airport aeroport flughafen aircraft tail station timestamp haus huis"
    " house maison stop journal sentence topic label image video playlist stadium arxiv",
    # measures: long numbers of these are amounts, or times
    "m": "population poblacion popolazione populacao bevoelkerung einwohner inwoners habitants price preis prix precio"
    " prezzo prijs preco income einkommen revenu ingreso reddito inkomen renda salary gehalt lohn salaire salario"
    " stipendio salaris wage sales revenue turnover umsatz vente ventas vendite omzet vendas distance distanz"
    " entfernung distancia distanza afstand amount betrag montant importe monto importo bedrag valor value wert valeur"
    " valore waarde cost kosten cout coste costo custo total sum balance saldo solde budget gdp pib weight height"
    " surface length duration views likes followers ms millis epoch ts created updated modified",
}
KNOWN = {word: kind for kind, words in KINDS.items() for word in words.split()}
SMALL = frozenset(re.findall(  # between the words that matter
    r"\w+", "of de del della di da do du des la le les el il the der die das van von for per et und and"
))
# several words that mean what none of them does
MEANT = "hospitalnumber hospitalno hospno hospnum contactnumber contactno codicefiscale partitaiva tesserasanitaria"
PHRASES = dict.fromkeys(re.findall(r"\w+", MEANT + " cartaosus rodnecislo"), "v")
# fmt: on
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
