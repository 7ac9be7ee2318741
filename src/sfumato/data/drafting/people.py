"""Names and numbers of people: what a column's name says of it, and what its values look like.

Neither is excused by coming again: of a table of stays a name stands in several rows, and a surname in very many.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from sfumato.data.drafting.given_names import GIVEN_NAMES
from sfumato.data.drafting.words import concept_of, says, words

_PERSONS = """
    pat patient(?:en|in|e|s)? paciente paziente pers person(?:en|al|eel)? persona personne pessoa individual individu
    subj subject usubj participant teilnehmer deelnemer participante partecipante proband(?:en)? respondent resp
    cust customers? clients? client[ei] clienten kd kunden? klienten klant(?:en)? user usuario utilisateur utente
    gebruiker benutzer members? mitglieds? miembro membre socio emp employees? employe empleado dipendente medewerker
    werknemer funcionario mitarbeiter staff personeels personnel student schuler alumno aluno eleve etudiant studente
    leerling matrikel insured versicherten versicherte assure asegurado assicurato verzekerde segurado applicant
    antragsteller bewohner resident citizen burger debtor schuldner
    """
_THINGS = """
    vers versicherungs insurance policy polis national social nhs household haushalts? menage hogar hh famil(?:y|ie)
    case fall akten? dossier record chart file encounter episode stay visit admission aufnahme expediente historia
    cartella processo account konto rekening compte cuenta conto conta contract vertrags? contrat contrato invoice
    rechnungs? card karten passport ausweis licen[cs]e tax steuer telefon phone house haus loan kredit
    """
_PERSON = "(?:" + "|".join(_PERSONS.split()) + ")"
_THING = "(?:" + "|".join(_THINGS.split()) + ")"
_COUNTED = "(?:nrs?|no|num|numbers?|nummern?|ids?|key|identifier|kennung)"
_OF = "(?:d[eiao]s? |du |del |della |l |of |van |von )?"
_NAME = "(?:names?|namen?|nom|nome|nombre|naam)"
_PART = "first|last|full|sur|fore|nick|given|middle|maiden|family|vor|nach|ruf|familien|geburts|zu|spitz"
_ABROAD = "prenoms?|apellidos?|cognome|sobrenome|apelido|voornaam|achternaam|roepnaam|initials"


def _words(*patterns: str) -> str:
    return "(?<![^ ])(?:" + "|".join(patterns) + ")(?![^ ])"


NUMBERS = _words(f"{_PERSON} ?{_COUNTED}", f"(?:no|num|numero|nr|id) {_OF}{_PERSON}", "u?pid", "ssn", "mrn")
"""Numbers of people: Patienten-Nr, custno, subject id, numero de cliente."""
NUMBERS_OF_THINGS = _words(f"{_THING} ?{_COUNTED}", f"(?:no|num|numero|nr|id) {_OF}{_THING}")
"""Numbers of what is theirs: Fall-Nr, account_no, numero de dossier. A few small ones only count visits."""
_SYSTEMS = (
    "(?:social (?:security|insurance)|national (?:insurance|identity)|securite sociale|identite nationale"
    "|seguridad social|identificacion fiscal|seguranca social|identificacao fiscal|previdenza sociale|fiscal)"
)
_NATIONAL = _words(
    "bsn|cpf|dni|nif|nss|nir|nino|curp|pesel|egn|insz|niss|aadhaar|ssn|codice ?fiscale|identifiant fiscal",
    "personnummer|burgerservicenummer|rijksregisternummer|sofinummer",
    "(?:sv|ahv|(?:sozial|renten)versicherungs|steuer(?:identifikations)?) ?(?:nr|nummer|id|idnr)|ahv",
    f"{_SYSTEMS} ?{_COUNTED}",
    f"(?:n|no|num|numero|nr|id) {_OF}(?:la )?{_SYSTEMS}",
)
"""Numbers that a state gives to people, each one's own: NIR, CPF, Steuer-ID, numero de securite sociale."""
_SHARED = _words("(?:household|haushalts?|menage|hogar|hh|famil(?:y|ie)|house|haus|phone|telefon) ?" + _COUNTED)
_OFFICIAL = _words("ids?", "ident(?:ifier|ifiant|ifikator|ificador|ificatore)?", "[ug]uid", "nie|svnr")
NAMES = _words(f"(?:{_PART}) ?{_NAME}", _ABROAD, f"{_PERSON} ?{_NAME}", f"{_NAME} {_OF}{_PERSON}")
"""Names of people, not of towns and wards."""
_JUST_A_NAME = f"^{_NAME}$"
_JUST_A_PERSON = (
    "^(?:patient(?:en|in)?|paciente|paziente|person|persona|personne|pessoa|subject|subj|participant|teilnehmer|proband"
    "|respondent|customer|client|cliente|klant|kunde|user|utente|member|mitglied|employee|mitarbeiter|student|insured)$"
)
_MOST_CODES = 9
_FEWEST_NAMES = 20
_OFTEN = 0.5
_SOMETIMES = 0.2
_GIVEN_OUT = re.compile(r"(?!\d{4}-\d\d?-)[A-Za-z]{0,4}[ -]?\d[\dA-Za-z -]{2,}")
_COMMA_NAME = re.compile(r"[^\W\d_][\w'’.\- ]*, ?[^\W\d_][\w'’.\-]*(?: [^\W\d_][\w'’.\-]*)?")
_TWO_WORDS = re.compile(r"[^\W\d_][\w'’.\-]*(?: [^\W\d_][\w'’.\-]*){1,3}")


def names_people(name: str, texts: Sequence[str], *, text: bool) -> str | None:
    """Why a column names or numbers people, however often each comes again; None if it does not.

    `texts` are its different values, or the first of them; `text`: whether they are texts, not numbers.
    """
    said = says_number(name) if len(texts) > 2 else None
    said = said or (says(name, _NATIONAL) if len(texts) > _MOST_CODES and has_digits(texts) else None)
    said = said or (says_name(name) if text else None)
    if said is not None:
        return f"the name says {said!r}"
    if holds_numbers(name, texts):
        return "it is called as a person is, and holds numbers"
    return "its values look like names of people" if text and look_like_names(name, texts) else None


def says_number(name: str) -> str | None:
    """The words in a column's name for a number of a person.

    >>> says_number("Pat.-Nr."), says_number("custno"), says_number("num_children")
    ('pat nr', 'custno', None)
    """
    return says(name, NUMBERS)


def says_name(name: str) -> str | None:
    """The words in a column's name for a name of a person; `name` alone is taken for one, the name of a town is none.

    >>> says_name("Patientenname"), says_name("Name"), says_name("city_name"), says_name("drug name")
    ('patientenname', 'name', None, None)
    """
    return says(name, NAMES) or says(name, _JUST_A_NAME)


def holds_numbers(name: str, texts: Sequence[str]) -> bool:
    """Whether a column that is called as a person is, and nothing else, holds their numbers or codes."""
    return says(name, _JUST_A_PERSON) is not None and len(texts) > _MOST_CODES and has_digits(texts)


def numbers_people(name: str, texts: Sequence[str]) -> bool:
    """Whether the values of a column are numbers or codes, each of one person; a household's is of several."""
    if says(name, _SHARED) or not has_digits(texts):
        return False
    said = any(says(name, pattern) for pattern in (NUMBERS, NUMBERS_OF_THINGS, _NATIONAL, _OFFICIAL))
    return said or holds_numbers(name, texts)


def look_like_numbers(texts: Sequence[str]) -> bool:
    """Whether texts are numbers or codes that somebody gave out: no amounts, no words, no dates, and no rows counted.

    >>> look_like_numbers(["4711-X", "0815-Y"]), look_like_numbers(["3,50", "7,25"]), look_like_numbers(["1", "3", "2"])
    (True, False, False)
    """
    if not texts or not all(_GIVEN_OUT.fullmatch(text.strip()) for text in texts):
        return False
    if not all(text.strip().isdecimal() for text in texts):
        return True
    numbers = [int(text) for text in texts]
    return max(numbers) - min(numbers) >= len(numbers)


def has_digits(texts: Sequence[str]) -> bool:
    """Whether most values have a digit, as numbers and codes do, and names do not."""
    return sum(any(letter.isdigit() for letter in text) for text in texts) > _OFTEN * len(texts)


def look_like_names(name: str, texts: Sequence[str]) -> bool:
    """Whether different texts are names of people, whatever their column is called, unless that means something else.

    Some of them have a frequent given name: as one of two words or more, or with a comma; of single words, most.

    >>> firsts = ("Petra", "Uwe", "Rolf", "Jo", "Ute")
    >>> people = [f"{last}, {first}" for last in ("Roth", "Lang", "Wolf", "Koch") for first in firsts]
    >>> look_like_names("x", people), look_like_names("town", people), look_like_names("x", ["Bern", "Basel"] * 10)
    (True, False, False)
    """
    if len(texts) < _FEWEST_NAMES or concept_of(name) is not None:
        return False
    shaped = [bool(_COMMA_NAME.fullmatch(text) or _TWO_WORDS.fullmatch(text)) for text in texts]
    given = [not GIVEN_NAMES.isdisjoint(words(text)) for text in texts]
    if sum(shaped) > 0.8 * len(texts):
        return sum(given) >= _SOMETIMES * len(texts)
    return sum(given) > _OFTEN * len(texts)
