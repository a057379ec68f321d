"""Words of headers that let a rule be expected, in English and German; umlauts written out, all in lower case."""

from __future__ import annotations

Words = frozenset[str]


def words(text: str) -> Words:
    """The words of a text."""
    return frozenset(text.split())


def pairs(*told: tuple[str, str]) -> tuple[tuple[Words, Words], ...]:
    """Words of one thing and of another."""
    return tuple((words(first), words(second)) for first, second in told)


# dates that follow each other within days: a claim, a ticket, an application, a sample, a call
HANDLED = pairs(
    (
        "claim claimed loss accident incident injury schaden schadens unfall ereignis vorfall",
        "reported report notified notification filed meldung gemeldet melde",
    ),
    ("claim claimed loss accident incident schaden schadens unfall vorfall", "settled settlement resolved reguliert"),
    (
        "reported report opened created submitted raised gemeldet meldung eingereicht",
        "settled settlement resolved resolution solved reguliert erledigt geloest",
    ),
    (
        "applied application submitted beantragt antrag antrags eingereicht",
        "approved approval decided decision granted rejected bewilligt entschieden entscheidung",
    ),
    ("approved approval granted bewilligt", "disbursed disbursement payout ausgezahlt auszahlung auszahlungs"),
    ("referred referral ueberwiesen ueberweisung", "seen appointment treated termin behandelt"),
    ("onset symptom symptoms erkrankt erkrankung", "tested test diagnosed diagnosis getestet diagnose"),
    ("collected sampled sampling entnahme entnommen probe", "received analysed analyzed eingang untersucht befund"),
    ("exam test pruefung klausur", "retake resit nachpruefung wiederholung wiederholungs"),
    ("call called received alarm alarmiert anruf", "dispatch dispatched ausgerueckt scene"),
    ("dispatch dispatched ausgerueckt", "scene arrival arrived ankunft"),
    ("prescribed written verordnet verschrieben", "dispensed filled abgegeben eingeloest"),
    ("received eingang eingegangen", "reported validated released validiert befundet freigegeben"),
    ("booked booking reserved gebucht buchung buchungs", "travel departure stay event reise abreise anreise"),
)
# what comes first and what comes last, of dates: with the other words of both headers alike
SPANS = pairs(
    ("start started begin began beginn anfang", "end ended finish finished ende schluss"),
    ("from von ab since seit", "to until till bis"),
    ("first erste erster erstes", "last latest letzte letzter letztes"),
    ("admitted admission admit adm aufnahme aufgenommen", "discharged discharge disch entlassung entlassen"),
    (
        "arrival arrived arrive arr ankunft checkin check_in anreise",
        "departure departed left dep checkout check_out abreise",
    ),
    ("pickup pick_up", "dropoff drop_off"),
    ("opened open opening eroeffnet eroeffnung geoeffnet", "closed close closing geschlossen schliessung"),
    ("birth born dob geburt geburts geboren", "death died dod tod todes gestorben"),
    (
        "hired hire joined entry eintritt einstellung",
        "left exit fired quit termination terminated austritt ausgeschieden",
    ),
    ("ordered order bestellt bestellung bestell", "shipped ship shipping versandt versand"),
    ("shipped ship shipping versandt versand", "delivered delivery geliefert lieferung liefer"),
    ("ordered order bestellt bestellung bestell", "delivered delivery geliefert lieferung liefer"),
    ("ordered order bestellt bestellung bestell", "billed invoiced paid berechnet bezahlt"),
    ("invoice invoiced billed rechnung rechnungs", "paid payment due bezahlt zahlung zahlungs faellig"),
    ("created erstellt angelegt", "updated modified changed geaendert aktualisiert"),
    ("issued ausgestellt", "expires expired expiry abgelaufen ablauf"),
    ("enrolled enrolment enrollment", "graduated graduation"),
    ("loaned lent borrowed ausgeliehen ausleihe entliehen", "returned return due rueckgabe zurueckgegeben faellig"),
    ("last latest letzte letzter letztes", "next naechste naechster naechstes"),
    ("filed lodged klage eingereicht", "hearing closed decided disposed judgment judgement urteil verhandlung"),
    ("issue issued origination originated", "maturity matures matured"),
)
SPANS += HANDLED
# what is smaller and what is larger, of numbers or dates
ENDS = pairs(
    ("min minimum least mindest untere kleinste", "max maximum most hoechst obere groesste"),
    ("min minimum mindest kleinste", "mean average avg mittel mittelwert durchschnitt median"),
    ("mean average avg mittel mittelwert durchschnitt median", "max maximum hoechst groesste"),
    ("low lower lowest lo", "high upper highest hi"),
    ("from von ab", "to bis"),
    ("net netto", "gross brutto"),
    ("diastolic dia diastolisch dbp", "systolic sys systolisch sbp"),
    ("built construction baujahr", "renovated renovation refurbished saniert sanierung modernisiert modernisierung"),
)
LOWS = ENDS[3]
BOUNDS = words("bound limit ci quartile quantile percentile range grenze end")  # a lower limb is no smaller number
NAMES = words(
    "id code zip plz postcode city stadt ort station floor account konto node nr number nummer state lat lon"
    " depot gate zone stop hub branch airport team warehouse lager region district bezirk"
)
RATES = words("rate percent percentage pct share ratio satz prozent quote anteil percentile index score")
STAYING = words("guest guests hotel nights night naechte gast gaeste stay room patient ward los")
# a number of some, and the number of all that it is among
PARTS = pairs(
    ("hits h", "at_bats atbats ab"),
    ("doubles triples homers home_runs homeruns hr 2b 3b singles 1b", "hits h"),
    ("wins won siege", "games played matches spiele g"),
    ("goals tore", "shots schuesse"),
    ("on_target", "shots schuesse"),
    (
        "made scored passed correct right richtig bestanden",
        "attempted attempts taken total gesamt versucht questions fragen",
    ),
    ("deaths died todesfaelle", "cases confirmed faelle"),
    ("bedrooms schlafzimmer", "rooms zimmer"),
    ("children kinder", "household_size hhsize persons personen haushaltsgroesse haushalt_groesse"),
    ("discount rabatt", "price preis"),
    ("tenure experience seniority berufsjahre", "age alter"),
    ("valid gueltig gueltige", "cast total gesamt abgegeben"),
    ("votes_cast waehler", "registered registered_voters electorate eligible wahlberechtigte"),
)
# ends and parts of which no record can be the other way round
ALWAYS_DATES = (*SPANS[:4], *SPANS[5:12], *SPANS[14:18], SPANS[19])
ALWAYS_NUMBERS = (*ENDS[:4], *ENDS[6:])
ALWAYS_PARTS = (*PARTS[:3], *PARTS[4:6], PARTS[7], *PARTS[10:])
LENGTHS = words(
    "los stay length duration days nights hours minutes seconds weeks years dauer liegedauer verweildauer vwd tage "
    "naechte stunden minuten sekunden wochen jahre"
)
WHOLE_DAYS = words("los stay days nights tage naechte liegedauer verweildauer vwd")
UNITS = {
    "hours": words("hours hour stunden"),
    "minutes": words("minutes minute min minuten"),
    "weeks": words("weeks wochen"),
    "years": words("years jahre"),
    "seconds": words("seconds sekunden"),
}
OF_DATES = {  # what the header of a part of a date says
    "year": words("year jahr yr"),
    "quarter": words("quarter quartal qtr"),
    "month": words("month monat"),
    "weekday": words("weekday wochentag dow dayofweek"),
    "hour": words("hour stunde"),
}
FILLING = words("date day time datetime timestamp datum tag zeit at on am of der die das the dt d")  # of names of dates
VISIT, (BORN, DIED), AGE = SPANS[4], SPANS[7], words("age alter")
JOINED = BORN | words(  # when a customer, patient or member became one: no record that hangs on it is earlier
    "since seit joined join registered registration signup sign_up enrolled enrolment enrollment hired founded opened"
    " beitritt beigetreten registriert angemeldet anmeldung eintritt eingestellt gegruendet eroeffnet"
)
CLOSE = (*SPANS[3:6], *SPANS[9:14], *HANDLED[:-1])  # dates that lie days apart: of stays, trips, orders and claims
CLOSE_TIMES = (*CLOSE, *SPANS[:2])  # the start and end of a work are years apart, of a session with times minutes
FIRSTS = frozenset(w for low, high in SPANS[:6] for w in low)  # age at admission
IN_MONTHS = words("months month monate monaten mo")
OWN = (
    FILLING
    | IN_MONTHS
    | words("patient person current aktuell aktuelles years year jahre jahren in bei beim zum visit rx")
)  # beside an age, nothing new
TOTAL = words("total sum gesamt summe insgesamt overall")
APART = words(  # amounts that are no part of a total
    "price preis unit einzel stueck discount rabatt quantity menge balance saldo limit budget"
)
NEUTRAL = TOTAL | words(
    "number count n num no anzahl zahl amount betrag price preis money income pay salary lohn einkommen usd eur votes"
    " stimmen"
)
ALTOGETHER = tuple(
    (words(whole), tuple(words(p) for p in parts))
    for whole, parts in (
        (
            "persons people total population personen gesamt einwohner",
            ("male males men maenner maennlich", "female females women frauen weiblich"),
        ),
        ("gross brutto", ("net netto", "tax taxes vat steuer steuern mehrwertsteuer mwst ust")),
        ("revenue turnover sales umsatz ertrag", ("profit gewinn", "cost costs expenses kosten")),
        ("hits h", ("singles 1b", "doubles 2b", "triples 3b", "homers home_runs homeruns hr")),
        ("games played matches spiele", ("wins won siege", "draws ties unentschieden", "losses lost niederlagen")),
        (
            "absences absent fehltage fehlstunden fehlzeiten",
            ("excused authorised authorized entschuldigt", "unexcused unauthorised unauthorized unentschuldigt"),
        ),
        ("cast abgegeben", ("valid gueltig gueltige", "invalid spoiled ungueltig ungueltige")),
        ("rooms zimmer", ("bedrooms schlafzimmer", "other_rooms andere_zimmer")),
    )
)
RATIOS = tuple(
    (words(column), words(of), words(by))
    for column, of, by in (
        ("density dichte", "population einwohner people", "area flaeche"),
        ("average avg batting_average", "hits h", "at_bats atbats ab"),
        ("unit_price stueckpreis einzelpreis", "total amount price betrag", "quantity qty menge anzahl"),
        ("price preis", "amount revenue betrag umsatz", "quantity qty menge"),
        ("speed geschwindigkeit", "distance strecke", "duration hours dauer stunden"),
    )
)
BMI, WEIGHT = words("bmi"), words("kg weight gewicht koerpergewicht")
HEIGHT = words("cm height size groesse koerpergroesse")
YES, NO = words("yes ja y j 1 true"), words("no nein n 0 false never nie none")
BLANKS = (
    (
        words("pregnant pregnancy schwanger schwangerschaft"),
        words("due gestation gestational trimester weeks termin woche wochen ssw"),
    ),
    (words("died dead deceased death verstorben gestorben tot"), DIED),
    (words("smoker smokes smoking raucher raucht"), words("cigarettes pack packs zigaretten")),
    (
        words("employed working job erwerbstaetig beschaeftigt"),
        words("employer occupation wage salary arbeitgeber beruf lohn gehalt"),
    ),
)
STATUS = words("status state stage outcome disposition zustand stand")
PENDING = words("open pending active ongoing current unresolved offen laufend aktiv anhaengig")
FINISHED = words(  # dates that a case has once it is no longer pending
    "closed close closing settled settlement resolved resolution solved finished completed completion end ended"
    " discharge discharged paid delivered returned geschlossen erledigt reguliert beendet ende abgeschlossen"
    " bezahlt geliefert"
)
FOLLOWS = tuple(
    (words(detail), words(general))
    for detail, general in (
        (
            "city town ort stadt gemeinde municipality",
            "county kreis landkreis state bundesland region province country land staat",
        ),
        (
            "plz postleitzahl postcode postal_code zip zipcode zip_code",
            "city town ort stadt gemeinde county kreis landkreis state bundesland region province",
        ),
        ("county kreis landkreis", "state bundesland region province country staat"),
        ("state bundesland region province", "country staat"),
        ("country land staat", "continent kontinent"),
        ("product produkt artikel item", "category kategorie warengruppe group"),
        ("species art", "genus gattung"),
        ("genus gattung", "family familie"),
        ("model modell", "make brand marke hersteller manufacturer"),
        (
            "store shop filiale branch office zweigstelle niederlassung agentur agency clinic school klinik schule",
            "region district bezirk gebiet",
        ),
    )
)
PLAIN = FILLING | words("name id code type nr no number nummer typ")  # of a thing that has no other name
MALE, SEX = words("male m man men maennlich mann"), words("sex gender geschlecht")
MARITAL, WED = (
    words("marital marst married familienstand"),
    words("married divorced widowed separated verheiratet geschieden verwitwet"),
)
OLDEST_CHILD = 13  # years: nobody marries younger in any law that is in force
