"""Nine more tables for walks, as courts, chemists, lenders and others write them; made anew from a seed.

Two are in the letters of Windows or Latin-1, with semicolons and decimal commas.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.random import Generator

from benchmarks.walk_tables import Walked


def courts(rng: Generator, n: int = 4000) -> Walked:
    """Cases: filed on working days, first heard and closed later, or pending; sentences of criminal cases alone."""
    court = rng.choice(["Amtsgericht A", "Amtsgericht B", "Landgericht"], n, p=[0.45, 0.35, 0.2])
    kind = rng.choice(["civil", "criminal", "family", "administrative"], n, p=[0.4, 0.3, 0.2, 0.1])
    filed = np.datetime64("2018-01-01") + rng.integers(0, 1800, n)
    wd = (filed.astype("datetime64[D]").view("int64") + 3) % 7
    filed = filed - np.where(wd >= 5, wd - 4, 0)
    dur = (
        np.round(
            rng.gamma(
                2,
                70
                * np.array([1, 1.4, 0.8, 2])[
                    pd.Categorical(kind, ["civil", "criminal", "family", "administrative"]).codes
                ],
            )
        ).astype(int)
        + 1
    )
    first = filed + np.minimum(dur, 20 + rng.integers(0, 100, n))
    closed = filed + dur
    open_ = closed > np.datetime64("2022-10-01")
    st = np.where(
        open_, "pending", rng.choice(["judgment", "settled", "withdrawn", "dismissed"], n, p=[0.45, 0.3, 0.15, 0.1])
    )
    seq = rng.permutation(n) + 1
    claim = np.where(kind == "criminal", np.nan, np.round(np.exp(rng.normal(8.5, 1.5, n)), 2))
    sent = np.where(
        (kind == "criminal") & (st == "judgment"),
        rng.choice([0, 3, 6, 9, 12, 18, 24, 36, 60], n, p=[0.3, 0.1, 0.2, 0.1, 0.1, 0.08, 0.06, 0.04, 0.02]),
        np.nan,
    )
    f = pd.DataFrame(
        {
            "docket_no": [f"{c[0]}{s}/{str(d)[2:4]}" for c, s, d in zip(kind, seq, filed, strict=True)],
            "court": court,
            "case_type": kind,
            "date_filed": filed,
            "first_hearing": pd.Series(first).mask(st == "withdrawn"),
            "date_closed": pd.Series(closed).mask(open_),
            "days_to_close": pd.Series(dur, dtype="Int64").mask(open_),
            "outcome": st,
            "amount_claimed": claim,
            "sentence_months": pd.Series(sent).astype("Int64"),
            "judges": np.where(court == "Landgericht", 3, 1),
            "appealed": np.where(st == "judgment", rng.choice(["Y", "N"], n, p=[0.2, 0.8]), ""),
        }
    )
    return Walked(
        name="courts", frame=f, dates=("date_filed", "first_hearing", "date_closed"),
        never={"below 0": lambda f: f["days_to_close"] < 0, "weekend": lambda f: f["date_filed"].dt.dayofweek > 4},
    )  # fmt: skip


def birds(rng: Generator, n: int = 6000) -> Walked:
    """Counts of birds at eight sites with coordinates, times of day, flocks with a heavy tail, sex NA for most."""
    species = np.array(
        ["Turdus merula", "Parus major", "Erithacus rubecula", "Sturnus vulgaris", "Grus grus", "Anser anser"]
    )
    s = rng.choice(6, n, p=[0.3, 0.25, 0.2, 0.15, 0.04, 0.06])
    site = rng.choice(8, n)
    lat = np.round(np.array([52.41, 52.47, 52.51, 52.60, 53.02, 53.11, 53.4, 53.9])[site] + rng.normal(0, 0.01, n), 5)
    lon = np.round(np.array([13.1, 13.22, 12.9, 12.5, 11.9, 11.1, 10.4, 9.9])[site] + rng.normal(0, 0.02, n), 5)
    d = np.datetime64("2022-01-01") + rng.integers(0, 365, n)
    hh = np.clip(np.round(rng.normal(7, 2, n) * 4), 16, 80) / 4
    t = [f"{int(h):02d}:{int((h % 1) * 60):02d}" for h in hh]
    count = np.where(s >= 3, np.floor(np.exp(rng.normal(3, 1.3, n))) + 1, rng.geometric(0.5, n)).astype(int)
    f = pd.DataFrame(
        {
            "species": species[s],
            "site_id": [f"S{k + 1:03d}" for k in site],
            "latitude": lat,
            "longitude": lon,
            "obs_date": d,
            "start_time": t,
            "count": count,
            "max_flock": count + np.where(s >= 3, rng.integers(0, 5, n), 0),
            "sex": np.where(s == 0, rng.choice(["M", "F", "U"], n, p=[0.5, 0.4, 0.1]), "NA"),
            "temp_C": np.round(
                8
                + 9 * np.sin((d.astype("datetime64[D]").view("int64") % 365 - 100) / 365 * 2 * np.pi)
                + rng.normal(0, 3, n),
                1,
            ),
            "cloud_oktas": rng.integers(0, 9, n),
            "observer": rng.choice([f"obs{i}" for i in range(30)], n, p=(w := 1 / np.arange(1, 31)) / w.sum()),
            "breeding": np.where(rng.random(n) < 0.2, "TRUE", "FALSE"),
        }
    )
    return Walked(
        name="birds", frame=f, dates=("obs_date",), clocks=("start_time",), blanks=False,
        never={"nobody": lambda f: f["count"] < 1, "oktas": lambda f: ~f["cloud_oktas"].between(0, 8)},
    )  # fmt: skip


def loanbook(rng: Generator, n: int = 5000) -> Walked:
    """Loans: terms with a space before them, rates in percent, months as Jan-2015, statuses, recoveries of few."""
    grade = rng.choice(list("ABCDE"), n, p=[0.25, 0.3, 0.2, 0.15, 0.1])
    g = np.array(["ABCDE".index(x) for x in grade])
    sub = [f"{a}{b}" for a, b in zip(grade, rng.integers(1, 6, n), strict=True)]
    iss = np.datetime64("2015-01", "M") + rng.integers(0, 60, n)
    term = rng.choice([36, 60], n, p=[0.7, 0.3])
    amt = (np.round(np.exp(rng.normal(9.2, 0.6, n)) / 25) * 25).astype(int)
    rate = np.round((0.06 + 0.035 * g + rng.normal(0, 0.005, n)), 4)
    inst = np.round(amt * (rate / 12) / (1 - (1 + rate / 12) ** -term), 2)
    st = np.where(
        rng.random(n) < 0.04 + 0.05 * g,
        "Charged Off",
        rng.choice(["Fully Paid", "Current", "Late (31-120 days)", "In Grace Period"], n, p=[0.6, 0.35, 0.03, 0.02]),
    )
    mat = iss + term
    emp = rng.choice(
        ["< 1 year", "1 year", "2 years", "3 years", "5 years", "10+ years", "n/a"],
        n,
        p=[0.1, 0.08, 0.1, 0.12, 0.2, 0.35, 0.05],
    )
    last = iss + np.minimum(term, rng.integers(1, 60, n))
    f = pd.DataFrame(
        {
            "loan_amnt": amt,
            "term": [f" {t} months" for t in term],
            "int_rate": [f"{100 * r:.2f}%" for r in rate],
            "installment": inst,
            "grade": grade,
            "sub_grade": sub,
            "emp_length": emp,
            "home_ownership": rng.choice(["RENT", "MORTGAGE", "OWN", "ANY"], n, p=[0.4, 0.48, 0.115, 0.005]),
            "annual_inc": np.round(np.exp(rng.normal(11, 0.5, n)), -2),
            "issue_d": pd.Series(iss.astype("datetime64[D]")).dt.strftime("%b-%Y"),
            "maturity_d": pd.Series(mat.astype("datetime64[D]")).dt.strftime("%b-%Y"),
            "loan_status": st,
            "dti": np.round(rng.gamma(4, 4.5, n), 2),
            "total_pymnt": np.round(np.where(st == "Fully Paid", inst * term, inst * rng.integers(1, 30, n)), 2),
            "last_pymnt_d": pd.Series(last.astype("datetime64[D]")).dt.strftime("%b-%Y").mask(rng.random(n) < 0.03),
            "recoveries": np.where(st == "Charged Off", np.round(rng.gamma(0.7, 900, n), 2), 0.0),
            "zip_code": [f"{z:03d}xx" for z in rng.integers(0, 990, n)],
            "pub_rec": rng.choice([0, 1, 2, 3], n, p=[0.85, 0.12, 0.02, 0.01]),
        }
    )
    return Walked(
        name="loanbook", frame=f, amounts=("int_rate",),
        formats=dict.fromkeys(("issue_d", "maturity_d", "last_pymnt_d"), "%b-%Y"), blanks=False,
        never={"below 0": lambda f: f["recoveries"] < 0},
    )  # fmt: skip


def exams(rng: Generator, n: int = 3500) -> Walked:
    """Marks out of 100 and grades A* to U in three subjects that not all take, a tier that may be a dash."""
    gr = ["A*", "A", "B", "C", "D", "E", "U"]
    ab = rng.normal(0, 1, n)

    def sub(shift: float, take: np.ndarray) -> tuple[pd.Series, pd.Series]:
        raw = np.clip(np.round(60 + 14 * ab + rng.normal(0, 9, n) + shift), 0, 100)
        g = np.array(gr)[np.searchsorted([-85, -72, -60, -50, -40, -30], -raw)]
        return pd.Series(g).where(take), pd.Series(raw).where(take).astype("Int64")

    m = rng.random(n) < 0.95
    h = rng.random(n) < 0.45
    p = rng.random(n) < 0.4
    a, b, c = sub(0, m), sub(4, h), sub(-6, p)
    yr = rng.choice(["2021/22", "2022/23", "2023/24"], n)
    tot = (b[1].fillna(0) + a[1].fillna(0) + c[1].fillna(0)).astype(int)
    f = pd.DataFrame(
        {
            "Candidate Number": [f"{x:04d}" for x in rng.permutation(9999)[:n]],
            "Academic Year": yr,
            "Centre No.": rng.choice(["10234", "01187", "55012", "00931"], n, p=[0.4, 0.3, 0.2, 0.1]),
            "Gender": rng.choice(["F", "M", "X"], n, p=[0.5, 0.49, 0.01]),
            "Maths Grade": a[0],
            "Maths Mark": a[1],
            "History Grade": b[0],
            "History Mark": b[1],
            "Physics Grade": c[0],
            "Physics Mark": c[1],
            "Total": tot,
            "Entries": m.astype(int) + h + p,
            "Tier": np.where(ab > 0.3, "Higher", np.where(ab > -0.8, "Foundation", "-")),
            "Extra time %": rng.choice([0, 25, 50], n, p=[0.9, 0.09, 0.01]),
        }
    )
    return Walked(
        name="exams", frame=f, codes=("Centre No.",),
        never={"mark": lambda f: ~f["Maths Mark"].dropna().between(0, 100)},
    )  # fmt: skip


def rx(rng: Generator, n: int = 5500) -> Walked:
    """Prescriptions: doses and directions as text, 19/05/1992, ages that follow, dollars, numbers of pharmacies."""
    drug = ["Amoxicillin", "Metformin", "Lisinopril", "Atorvastatin", "Salbutamol", "Paracetamol"]
    d = rng.choice(6, n, p=[0.2, 0.2, 0.18, 0.18, 0.09, 0.15])
    dose = [
        rng.choice(o)
        for o in [
            [
                ["250 mg", "500 mg"],
                ["500 mg", "850 mg", "1 g"],
                ["2.5 mg", "5 mg", "10 mg", "20 mg"],
                ["10 mg", "20 mg", "40 mg", "80 mg"],
                ["100 mcg"],
                ["500 mg", "1 g"],
            ][k]
            for k in d
        ]
    ]
    freq = rng.choice(["1x daily", "2x daily", "3x daily", "as needed", "1-0-1"], n, p=[0.4, 0.3, 0.15, 0.1, 0.05])
    wr = np.datetime64("2023-01-01") + rng.integers(0, 365, n)
    disp = wr + rng.geometric(0.4, n) - 1
    qty = rng.choice([14, 21, 28, 30, 56, 60, 84, 90], n)
    ds = np.round(
        qty
        / np.array([1, 2, 3, 2, 2])[
            pd.Categorical(freq, ["1x daily", "2x daily", "3x daily", "as needed", "1-0-1"]).codes
        ]
    ).astype(int)
    birth = np.datetime64("1930-01-01") + rng.integers(0, 30000, n)
    age = ((wr - birth).astype(int) // 365.25).astype(int)
    f = pd.DataFrame(
        {
            "rx_id": [f"RX-{x:07d}" for x in rng.permutation(10**6)[:n]],
            "patient_dob": pd.Series(birth).dt.strftime("%d/%m/%Y"),
            "age_at_rx": age,
            "drug": np.array(drug)[d],
            "dose": dose,
            "sig": [f"Take {a} {b}" for a, b in zip(dose, freq, strict=True)],
            "frequency": freq,
            "date_written": pd.Series(wr).dt.strftime("%d/%m/%Y"),
            "date_dispensed": pd.Series(disp).dt.strftime("%d/%m/%Y").mask(rng.random(n) < 0.08),
            "qty": qty,
            "days_supply": ds,
            "refills": rng.choice([0, 1, 2, 3, 5, 11], n, p=[0.5, 0.1, 0.1, 0.1, 0.15, 0.05]),
            "copay": [
                f"${x:,.2f}"
                for x in rng.choice([0, 5, 10, 15, 35], n)
                + np.where(rng.random(n) < 0.1, np.round(rng.gamma(1, 20, n), 2), 0)
            ],
            "pharmacy_npi": rng.choice([1234567890 + i * 977 for i in range(25)], n),
            "generic": rng.choice(["Y", "N"], n, p=[0.88, 0.12]),
            "controlled": rng.choice(["", "II", "IV"], n, p=[0.93, 0.03, 0.04]),
        }
    )
    return Walked(
        name="rx", frame=f, amounts=("copay",),
        formats=dict.fromkeys(("patient_dob", "date_written", "date_dispensed"), "%d/%m/%Y"),
        never={"refills": lambda f: ~f["refills"].between(0, 11)},
    )  # fmt: skip


def phone(rng: Generator, n: int = 7000) -> Walked:
    """A bill: durations 00:12:33, days 10.02.24, times of day, amounts that are mostly 0, a telephone number."""
    start = pd.Series(np.datetime64("2024-02-01T00:00:00") + rng.integers(0, 29 * 86400, n))
    typ = rng.choice(["voice", "sms", "data", "voicemail"], n, p=[0.45, 0.3, 0.2, 0.05])
    sec = np.where(np.isin(typ, ["voice", "voicemail"]), np.round(rng.exponential(150, n)) + 1, 0).astype(int)
    mb = np.where(typ == "data", np.round(np.exp(rng.normal(2, 1.5, n)), 3), np.nan)
    hms = [f"{s // 3600:02d}:{s // 60 % 60:02d}:{s % 60:02d}" for s in sec]
    dest = rng.choice(["national", "roaming EU", "international", "premium"], n, p=[0.85, 0.08, 0.05, 0.02])
    rate = {"national": 0.0, "roaming EU": 0.002, "international": 0.012, "premium": 0.03}
    cost = np.round(np.array([rate[x] for x in dest]) * sec, 4)
    f = pd.DataFrame(
        {
            "Account": rng.choice([f"+49 151 {i:07d}" for i in rng.integers(0, 10**7, 40)], n),
            "Date": start.dt.strftime("%d.%m.%y"),
            "Time": start.dt.strftime("%H:%M:%S"),
            "End": (start + pd.to_timedelta(sec, unit="s")).dt.strftime("%H:%M:%S"),
            "Type": typ,
            "Duration": hms,
            "Seconds": sec,
            "Volume MB": mb,
            "Destination": dest,
            "Net": [f"{c:.4f}" for c in cost],
            "VAT": [f"{c * 0.19:.4f}" for c in cost],
            "Gross": [f"{c * 1.19:.4f}" for c in cost],
            "Billed min": -(-sec // 60),
            "Peak": np.where(start.dt.hour.between(8, 18), "peak", "off-peak"),
        }
    )
    return Walked(
        name="phone", frame=f, clocks=("Time", "End", "Duration"), formats={"Date": "%d.%m.%y"},
        never={"no time": lambda f: ~f["Duration"].str.fullmatch(r"\d\d:[0-5]\d:[0-5]\d")},
    )  # fmt: skip


def buildings(rng: Generator, n: int = 4500) -> Walked:
    """A register: house numbers, postcodes that decide the town, years of 0, prices of 1.234 EUR, Windows letters."""
    street = rng.choice(["Hauptstr.", "Bahnhofstraße", "Gartenweg", "Am Anger", "Schulstraße", "Lindenallee"], n)
    plz = rng.choice(["01067", "01099", "04109", "10115", "80331"], n, p=[0.3, 0.25, 0.2, 0.15, 0.1])
    ort = {"01067": "Dresden", "01099": "Dresden", "04109": "Leipzig", "10115": "Berlin", "80331": "München"}
    yr = np.where(rng.random(n) < 0.1, 0, np.clip(np.round(rng.normal(1960, 35, n)), 1750, 2023)).astype(int)
    fl = rng.choice([1, 2, 3, 4, 5, 6, 12], n, p=[0.2, 0.35, 0.2, 0.12, 0.08, 0.04, 0.01])
    area = np.round(fl * rng.gamma(9, 11, n), 1)
    use = rng.choice(["Wohnen", "Büro", "Gewerbe", "gemischt"], n, p=[0.7, 0.1, 0.1, 0.1])
    units = np.where(use == "Wohnen", np.maximum(1, np.round(area / 85)), 0).astype(int)
    f = pd.DataFrame(
        {
            "Straße": street,
            "Haus-Nr.": [
                f"{a}{b}"
                for a, b in zip(rng.integers(1, 140, n), rng.choice(["", "", "", "", "a", "b", "c"], n), strict=True)
            ],
            "PLZ": plz,
            "Ort": [ort[p] for p in plz],
            "Baujahr": yr,
            "Geschosse": fl,
            "Wohnfläche (m²)": area,
            "Nutzung": use,
            "Wohneinheiten": units,
            "Sanierung": pd.Series(np.maximum(yr, 1960) + rng.integers(0, 50, n))
            .clip(upper=2024)
            .mask((rng.random(n) < 0.6) | (yr == 0))
            .astype("Int64"),
            "Energieklasse": rng.choice(["A+", "A", "B", "C", "D", "E", "F", "G", "H"], n),
            "Denkmal": np.where((yr < 1900) & (yr > 0) & (rng.random(n) < 0.4), "x", ""),
            "Verkehrswert": [f"{x:,.0f} €".replace(",", ".") for x in area * rng.normal(2600, 400, n)],
            "Kennzeichen": rng.choice(["DD-12", "L-7", "B-1", "M-9"], n),
        }
    )
    return Walked(
        name="buildings", frame=f, german=True, encoding="cp1252", codes=("PLZ",), amounts=("Verkehrswert",),
        never={"storeys": lambda f: ~f["Geschosse"].between(1, 12)},
    )  # fmt: skip


def election(rng: Generator, n: int = 1800) -> Walked:
    """Precincts: voters, valid and invalid votes, four shares that add up to 100, a winner that follows."""
    reg = rng.choice(["urban", "suburban", "rural"], n, p=[0.3, 0.3, 0.4])
    a = np.array([[6, 4, 3, 1], [4, 5, 3, 1], [3, 6, 2, 2]])[pd.Categorical(reg, ["urban", "suburban", "rural"]).codes]
    sh = np.array([rng.dirichlet(4 * x) for x in a])
    pc = np.round(100 * sh, 1)
    pc[:, 3] = np.round(100 - pc[:, :3].sum(1), 1)
    el = np.round(rng.gamma(4, 220, n)).astype(int) + 80
    turn = np.clip(rng.normal(0.66, 0.09, n), 0.2, 0.97)
    cast = np.round(el * turn).astype(int)
    inv = rng.binomial(cast, 0.01)
    valid = cast - inv
    f = pd.DataFrame(
        {
            "precinct": [
                f"{k:02d}-{j:03d}" for k, j in zip(rng.integers(1, 17, n), rng.integers(1, 400, n), strict=True)
            ],
            "region": reg,
            "registered": el,
            "votes_cast": cast,
            "invalid": inv,
            "valid": valid,
            "turnout %": np.round(100 * cast / el, 1),
            "party_A %": pc[:, 0],
            "party_B %": pc[:, 1],
            "party_C %": pc[:, 2],
            "others %": pc[:, 3],
            "winner": np.array(["A", "B", "C", "others"])[pc.argmax(1)],
            "postal": np.round(cast * rng.beta(3, 7, n)).astype(int),
            "counted_at": pd.Series(np.datetime64("2024-06-09T18:00:00") + 60 * rng.integers(20, 400, n)).dt.strftime(
                "%Y-%m-%d %H:%M"
            ),
        }
    )
    return Walked(
        name="election", frame=f, dates=("counted_at",), never={"share": lambda f: ~f["turnout %"].between(0, 100)},
    )  # fmt: skip


def lab(rng: Generator, n: int = 3000) -> Walked:
    """Results such as <0,5 with their units, times of receipt and report, cases of several results, flags + and -."""
    an = ["CRP", "Kreatinin", "Glucose", "HbA1c", "TSH"]
    un = ["mg/l", "mg/dl", "mg/dl", "%", "mU/l"]
    k = rng.choice(5, n, p=[0.3, 0.25, 0.2, 0.1, 0.15])
    v = np.round(np.exp(rng.normal(np.array([0.5, 0, 4.6, 1.75, 0.6])[k], np.array([1.3, 0.25, 0.2, 0.12, 0.8])[k])), 1)
    lo = np.array([0.5, 0.3, 30, 3, 0.1])[k]
    txt = [
        (f"<{low:g}" if x < low else f">{200}" if x > 200 else f"{x:.1f}").replace(".", ",")
        for x, low in zip(v, lo, strict=True)
    ]
    ein = pd.Series(np.datetime64("2024-01-01T06:00") + rng.integers(0, 90 * 24 * 60, n))
    out = ein + pd.to_timedelta(rng.integers(20, 300, n), unit="m")
    f = pd.DataFrame(
        {
            "Auftrag": [f"A{x:06d}" for x in rng.permutation(10**5)[:n]],
            "Fall-Nr": rng.choice(np.arange(4000000, 4000900), n),
            "Geburtsjahr": rng.integers(1930, 2015, n),
            "Geschl.": rng.choice(["m", "w", "d", ""], n, p=[0.48, 0.5, 0.005, 0.015]),
            "Analyt": np.array(an)[k],
            "Ergebnis": txt,
            "Einheit": np.array(un)[k],
            "Referenzbereich": np.array(["< 5", "0,5-1,2", "70-100", "4,0-6,0", "0,4-4,0"])[k],
            "Flag": np.where(rng.random(n) < 0.7, "", rng.choice(["+", "-", "++"], n)),
            "Eingang": ein.dt.strftime("%d.%m.%Y %H:%M"),
            "Validiert": out.dt.strftime("%d.%m.%Y %H:%M"),
            "Material": rng.choice(["Serum", "EDTA-Blut", "Heparin"], n),
            "Kosten": [f"{x:.2f}".replace(".", ",") for x in np.array([4.66, 2.33, 2.33, 9.33, 14.57])[k]],
            "Kalium": [f"{x:.1f}".replace(".", ",") for x in rng.normal(4.2, 0.4, n)],
        }
    )
    return Walked(
        name="lab", frame=f, german=True,
        encoding="latin-1",
        formats=dict.fromkeys(("Eingang", "Validiert"), "%d.%m.%Y %H:%M"),
        never={"birth": lambda f: ~f["Geburtsjahr"].between(1900, 2024)},
    )  # fmt: skip


def tables(seed: int = 707) -> list[Walked]:
    """All nine; the same seed gives the same files."""
    made = (courts, birds, loanbook, exams, rx, phone, buildings, election, lab)
    return [make(np.random.default_rng([seed, i])) for i, make in enumerate(made)]
