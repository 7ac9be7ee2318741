"""Tables as offices keep them: other languages, orders of dates, decimal commas, codes, free text, missing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

Row = dict[str, str]
ROWS = 1500


@dataclass(frozen=True)
class Messy:
    """A table in text: how it is written, and its rows."""

    rows: list[Row]
    delimiter: str = ","
    encoding: str = "utf-8"

    def write_csv(self, path: Path) -> Path:
        lines = [list(self.rows[0]), *(list(row.values()) for row in self.rows)]
        text = "".join(self.delimiter.join(map(self._cell, line)) + "\n" for line in lines)
        path.write_bytes(text.encode(self.encoding))
        return path

    def _cell(self, text: str) -> str:
        return f'"{text}"' if self.delimiter in text else text

    def write_excel(self, path: Path, read: dict[str, Callable[[str], Any]]) -> Path:
        """As a workbook, with the cells of some columns as what they mean: numbers, dates."""
        xlsxwriter = import_module("xlsxwriter")

        with xlsxwriter.Workbook(str(path), {"default_date_format": "dd.mm.yyyy"}) as book:
            sheet = book.add_worksheet()
            for at, name in enumerate(self.rows[0]):
                sheet.write_string(0, at, name)
                for row, cells in enumerate(self.rows, 1):
                    text = cells[name]
                    if text:
                        sheet.write(row, at, read[name](text)) if name in read else sheet.write_string(row, at, text)
        return path


class Drawing:
    """Owns one stream of chance, from which a table's cells are drawn."""

    def __init__(self, seed: int) -> None:
        self.chance = np.random.default_rng(seed)

    def one(self, of: Sequence[str], shares: Sequence[float] | None = None) -> str:
        return str(self.chance.choice(list(of), p=shares))

    def whole(self, low: int, high: int) -> int:
        return int(self.chance.integers(low, high))

    def day(self, first: date, days: int) -> date:
        return first + timedelta(days=self.whole(0, days))

    def amount(self, middle: float, spread: float) -> float:
        return float(np.exp(self.chance.normal(np.log(middle), spread)))


def comma(number: float, digits: int) -> str:
    """1234.5 as 1.234,50."""
    return f"{number:,.{digits}f}".translate(str.maketrans(",.", ".,"))


def hospital(rows: int = ROWS, seed: int = 1) -> Messy:
    """German: semicolons, cp1252, dd.mm.yyyy, decimal commas, ICD codes, a remark for everybody."""
    d = Drawing(seed)
    found: list[Row] = []
    for n in range(rows):
        age, code = d.whole(18, 95), d.one(["I10.90", "I21.0", "E11.9", "J18.9", "C50.9", "S72.0", "K35.8", "N39.0"])
        admitted = d.day(date(2023, 1, 1), 700)
        ill = code[0] in "CI" and age > 60
        found.append(
            {
                "Patientennummer": f"P{100000 + 7 * n}",
                "Name": f"Müller {n}",
                "Geburtsdatum": (date(2024, 1, 1) - timedelta(days=365 * age + d.whole(0, 365))).strftime("%d.%m.%Y"),
                "Geschlecht": d.one("mw"),
                "PLZ": f"0{d.whole(1, 5)}{d.one(['067', '109', '229', '315', '416', '539'])}",
                "Aufnahmedatum": admitted.strftime("%d.%m.%Y"),
                "Familienstand": d.one(["ledig", "verheiratet", "geschieden", "verwitwet", "k.A."]),
                "Hauptdiagnose": code,
                "Gewicht_kg": comma(d.amount(75, 0.2), 1),
                "CRP": d.one([comma(d.amount(12 if ill else 4, 1.0), 2), "?"], [0.9, 0.1]),
                "Stationstyp": str(d.whole(1, 7)),
                "privatversichert": d.one("01"),
                "Bemerkung": f"Patient {n} kam mit Beschwerden und wurde nach {d.whole(1, 20)} Tagen entlassen, Ärztin",
                "Klinik": "Städtisches Klinikum",
                "Ausgang": "verstorben" if ill and d.whole(0, 3) == 0 else "entlassen",
            }
        )
    return Messy(found, ";", "cp1252")


def bank(rows: int = ROWS, seed: int = 2) -> Messy:
    """American: mm/dd/yyyy, ZIP codes with leading zeros, thousands in quotes, NA and -9, a class at the end."""
    d = Drawing(seed)
    jobs = ["clerk", "nurse", "teacher", "engineer", "driver", "cook", "manager", "retired"]
    found: list[Row] = []
    for n in range(rows):
        job = d.one(jobs)
        income = d.amount(70_000 if job in ("engineer", "manager") else 38_000, 0.35)
        bad = income < 35_000 and d.whole(0, 2) == 0
        opened = d.day(date(2005, 1, 1), 7000)
        found.append(
            {
                "customer_id": f"{20_000_000 + 13 * n}",
                "email": f"c{n}@example.org",
                "birth_date": d.day(date(1940, 1, 1), 23000).strftime("%m/%d/%Y"),
                "sex": d.one(["F", "M"]),
                "zip": f"0{d.one(['21', '22', '10', '18'])}{d.whole(10, 30)}",
                "occupation": job,
                "education": d.one(["school", "college", "university", "NA"], [0.5, 0.25, 0.2, 0.05]),
                "marital_status": d.one(["single", "married", "divorced"]),
                "children": d.one(["0", "1", "2", "3", "-9"], [0.4, 0.2, 0.25, 0.1, 0.05]),
                "annual_income": f"{income:,.2f}",
                "opened": opened.strftime("%Y%m%d"),
                "products": ";".join(sorted(d.chance.choice(["card", "loan", "home", "car"], d.whole(1, 4), False))),
                "branch_code": str(d.whole(1, 9)),
                "credit_history": d.one(["good", "late", "none yet", "NA"], [0.6, 0.2, 0.15, 0.05]),
                "default": "yes" if bad else "no",
            }
        )
    return Messy(found)


def register(rows: int = ROWS, seed: int = 3) -> Messy:
    """French: tabs, latin-1, dd/mm/yyyy with times, a column that is the same for all, empty cells."""
    d = Drawing(seed)
    towns = {"Nyon": "1260", "Morges": "1110", "Vevey": "1800", "Aigle": "1860", "Échallens": "1040"}
    found: list[Row] = []
    for n in range(rows):
        town = d.one(list(towns))
        born = d.day(date(1930, 1, 1), 33000)
        found.append(
            {
                "Numéro_dossier": f"VD-{n:05}-{d.whole(10, 99)}",
                "Nom": f"Dupré{n}",
                "Adresse": f"Rue du Lac {d.whole(1, 200)}",
                "Date_naissance": born.strftime("%d/%m/%Y"),
                "Sexe": d.one("HF"),
                "Commune": town,
                "Code_postal": towns[town],
                "Nationalité": d.one(
                    ["suisse", "française", "italienne", "portugaise", ""], [0.7, 0.1, 0.1, 0.08, 0.02]
                ),
                "État_civil": d.one(["célibataire", "marié", "divorcé", "veuf"]),
                "Enfants": str(d.whole(0, 4)),
                "Religion": d.one(["protestante", "catholique", "aucune", "autre", "inconnu"]),
                "Revenu": comma(d.amount(60_000, 0.5), 2),
                "Arrivée": d.day(date(2000, 1, 1), 8000).strftime("%d/%m/%Y") + f" {d.whole(8, 17)}:{d.whole(10, 59)}",
                "Canton_pays": "CH",
            }
        )
    return Messy(found, "\t", "latin-1")


MESSY: dict[str, Callable[..., Messy]] = {"hospital": hospital, "bank": bank, "register": register}
