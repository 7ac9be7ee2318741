"""What a column's name says of it, in seven languages: English, German, French, Spanish, Italian, Dutch, Portuguese.

Of German, Dutch and Scandinavian ones compounds are known by their stem, with a tail that says what of it is told
(Huishoudtype, Erwerbsstatus). Names are taken apart into words without accents. A pattern matches whole words, or
several in a row; it is compiled by `re` where it is first asked for, since few runs ask for all.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

_LETTERS = str.maketrans({"ß": "ss", "æ": "ae", "ø": "o", "œ": "oe", "ł": "l"})


@dataclass(frozen=True)
class Concept:
    """What a name can mean.

    `known`: 3 what many know of a person, 2 what neighbours or colleagues know, 1 what some of them know.
    `nominal`: small numbers in such a column stand for kinds.
    """

    meaning: str
    known: int
    pattern: str
    nominal: bool = False


def words(name: str) -> list[str]:
    """The words of a column's name, in lower case and without accents.

    >>> words("patientID"), words("Home-Phone 2"), words("Größe_cm")
    (['patient', 'id'], ['home', 'phone', '2'], ['grosse', 'cm'])
    """
    spaced = re.sub(r"(?<=[a-zà-ÿ0-9])(?=[A-ZÀ-Þ])", " ", unicodedata.normalize("NFC", name))
    folded = unicodedata.normalize("NFKD", spaced.lower().translate(_LETTERS))
    plain = "".join(mark for mark in folded if not unicodedata.combining(mark))
    return re.findall(r"[^\W\d_]+\d*|\d+", plain)


def says(name: str, pattern: str) -> str | None:
    """The words of a name that a pattern matches; None if there are none.

    >>> says("date_of_birth", BIRTH.pattern), says("average", BIRTH.pattern)
    ('date of birth', None)
    """
    found = (re.search(pattern, form) for form in _forms(name))
    return next((one[0] for one in found if one is not None), None)


def concept_of(name: str) -> Concept | None:
    """What others know of people that this name stands for; None if it is nothing of that kind.

    >>> concept_of("Pays de naissance").meaning, concept_of("city_of_birth").meaning, concept_of("born").meaning
    ('nationality or origin', 'where somebody lives', 'age or birth')
    """
    if says(name, UNTIL):
        return None  # days to a job are no job, and nobody's length of stay
    found = next((concept for concept in KNOWN if says(name, concept.pattern)), None)
    if found not in (None, BIRTH, EVENT) and says(name, DURATION):
        return STAY
    if found is not BIRTH:
        return found
    return next((place for place in (COUNTRY, PLACE) if says(name, place.pattern)), BIRTH)  # where, not when


def is_quantity(name: str) -> bool:
    """Whether a name says that it stands for amounts, ages or counts: digits under it are numbers, not codes.

    >>> is_quantity("peso_kg"), is_quantity("ingresos"), is_quantity("isco"), is_quantity("icd")
    (True, True, False, False)
    """
    if says(name, CODED):
        return False
    amounts = (AMOUNT_WORDS, COUNT_WORDS, SENSITIVE, MOMENT_WORDS)
    return any(says(name, words) for words in amounts) or concept_of(name) in (BIRTH, HOUSEHOLD)


def _forms(name: str) -> tuple[str, str]:
    """The words of a name in a row, and the same where umlauts were written with an e."""
    plain = " ".join(words(name))
    return plain, re.sub(r"(?<=[aou])e", "", plain)


def _any(text: str) -> str:
    """Any of the words; numbers behind a word belong to it."""
    return r"(?<![^ ])(?:" + "|".join(text.split()) + r")\d*(?![^ ])"


def _phrases(found: str, *phrases: str) -> str:
    """A pattern, or one of these phrases of several words."""
    return found + "".join(rf"|(?<![^ ])(?:{phrase})(?![^ ])" for phrase in phrases)


def _compounds(stems: str) -> str:
    """Words that begin with one of the stems and end with what of it is told, such as its kind or size."""
    return f" (?:{'|'.join(stems.split())})s?(?:{'|'.join(_TAILS.split())})"


_TAILS = """
    typ(?:e|en)? status situati(?:e|on) situasjon vorm form art soort grootte groo?sse storlek storrelse
    samenstelling zusammensetzung sammansattning sammensetning sammensaetning klassen? categorie kategorien? kategori
    groep gruppe grupp niveau niva stand stellung code kode kod relatie verhaltnis forhallande forhold richting richtung
    sector sektor positi(?:e|on)
    """
"""What ends a compound of German, Dutch, Swedish, Danish and Norwegian: the kind, state, size or place of something."""

BIRTH = Concept(
    "age or birth",
    3,
    _phrases(
        _any(
            """
            age ages agegroup birth birthday birthdate birthyear born dob yob alter geburt geburtsdatum
            geburtstag geburtsjahr altersgruppe jahrgang naissance ne nee edad nacimiento fechanacimiento eta
            nascita leeftijd geboortedatum geboortejaar geboorte geboren idade nascimento datanascimento
            """
        ),
        "date of birth",
    ),
)
SEX = Concept(
    "sex",
    3,
    _any("sex sexe sexo sesso gender geschlecht genre genero genere geslacht anrede title salutation"),
    nominal=True,
)
PLACE = Concept(
    "where somebody lives",
    3,
    _phrases(
        _any(
            """
            zip zipcode postcode postalcode postal plz postleitzahl cp codepostal codigopostal cap postcodes cep
            city town village municipality county district region state province neighbo(?:u)?rhood residence
            domicile ort wohnort stadt gemeinde kreis landkreis bezirk bundesland kanton stadtteil quartier
            ville commune departement canton ciudad municipio localidad provincia comunidad distrito citta
            comune regione quartiere stad gemeente woonplaats provincie wijk cidade concelho freguesia bairro
            estado(?!\\d*\\s(?:civil|de|do|salud|saude|laboral|cuenta|conta|pago|animo|credito|prestamo)\\b)
            residencia fips tract borough parish barrio nuts
            """
        ),
        "(?:code|codigo) postal",
    ),
    nominal=True,
)
COUNTRY = Concept(
    "nationality or origin",
    2,
    _any(
        """
        country nationality citizenship nation foreign foreigner migrant origin land staat nationalitat
        staatsangehorigkeit staatsburgerschaft herkunft auslander pays nationalite origine etranger pais
        nacionalidad origen extranjero paese nazionalita cittadinanza nationaliteit herkomst nacionalidade
        birthplace geburtsort geburtsland
        """
    ),
    nominal=True,
)
RACE = Concept(
    "ethnicity or language",
    2,
    _any("race ethnicity ethnic ethnie etnia rasse raza razza raca etniciteit language muttersprache langue sprache"),
    nominal=True,
)
MARITAL = Concept(
    "marital status",
    2,
    _phrases(
        _any(
            """
            marital maritalstatus married marriage civilstatus civilstate divorced widowed spouse relationship
            familienstand zivilstand personenstand ehestand verheiratet ledig geschieden verwitwet etatcivil marie
            celibataire divorce matrimonial estadocivil conyugal casado casada soltero soltera viudo viuda statocivile
            coniugale sposato coniugato burgerlijke burgerlijkestaat gehuwd ongehuwd conjugal solteiro solteira
            """
        ),
        "personal status",
        "civil (?:status|state)",
        "(?:etat|estado|stato) civile?",
        "situa(?:tion|cion|cao) (?:familiale|matrimoniale|familiar)",
    ),
    nominal=True,
)
WORK = Concept(
    "occupation",
    2,
    _any(
        """
        occupation job profession employment employer workclass sector industry work beruf tatigkeit arbeitgeber
        beschaftigung branche metier emploi employeur profesion ocupacion empleo trabajo professione occupazione
        lavoro beroep functie werk werkgever profissao ocupacao emprego trabalho unemployed retired isco kldb nace naics
        siccode soc naf csp cnae ateco noga berufscode berufskode berufsgruppe berufskennziffer berufsschlussel
        erwerbstatig(?:keit)? arbeitslos(?:igkeit)? werkloos(?:heid)? arbeidsongeschikt(?:heid)? sysselsattning yrke
        sysselsetting beskaeftigelse erhverv
        """
        + _compounds("werk arbeid beroep erwerb arbeit beschaftigung beruf arbet arbejd sysselsattning yrke erhverv")
    ),
    nominal=True,
)
SCHOOL = Concept(
    "education",
    2,
    _any(
        """
        education educational degree school schooling university studies bildung bildungsstand schulabschluss
        abschluss ausbildung schule etudes diplome niveauetudes ecole college lycee educacion estudios
        escolaridad titulo istruzione studio titolo diploma opleiding onderwijs escolaridade educacao instrucao
        qualification utbildning utdanning uddannelse
        """
        + _compounds("opleiding onderwij bildung ausbildung schul utbildning utdanning uddannelse")
    ),
)
HOUSEHOLD = Concept(
    "household",
    2,
    _any(
        """
        household family children child kids siblings dependents dependants housing home homeowner
        dwelling haushalt haushaltsgrosse kinder kinderzahl wohnung wohnform menage foyer enfants logement hogar
        hijos vivienda famiglia figli abitazione nucleo huishouden kinderen gezin woning agregado filhos
        habitacao domicilio hushall husholdning husstand
        """
        + _compounds("huishoud(?:en)? gezin haushalt familien wohn woon hushall husholdning husstand")
    ),
)
EVENT = Concept(
    "when something happened",
    1,
    _any(
        """
        date day time timestamp admission admitted discharge discharged visit visited entry hired arrival death
        died appointment since aufnahme aufnahmedatum entlassung entlassungsdatum einzug zuzug eintritt termin
        datum tag besuch sterbedatum einzugsdatum eroffnung eroffnungsdatum admision alta ingreso fecha visita
        ricovero dimissione data entree sortie visite opname ontslag bezoek admissao entrada opened
        """
    ),
)
STAY = Concept(
    "where or how long somebody was",
    1,
    _phrases(
        _any(
            """
            wards? departments? dept units? clinic hospital station stay stays staylength lengthofstay los days tenure
            abteilung fachabteilung klinik krankenhaus verweildauer liegedauer liegetage aufenthalt aufenthaltsdauer
            tage service unite etablissement hopital clinique sejour jours sala servicio unidad departamento
            estancia dias reparto dipartimento unita degenza giorni ospedale clinica afdeling ziekenhuis verblijf
            verblijfsduur ligduur dagen enfermaria servico unidade permanencia internamento estadia
            """
        ),
        "length of stay",
        "duree de sejour",
    ),
)
DURATION = _any("duration dauer duree duracion durata duur duracao")
_UNITS = """
    time hours? days? weeks? months? years? zeit stunden tage wochen monate jahre temps delai heures jours semaines mois
    annees tiempo horas dias semanas meses anos tempo ore giorni settimane mesi anni tijd uren dagen weken maanden jaren
    """
UNTIL = f"(?<![^ ])(?:{'|'.join(_UNITS.split())}) (?:to|until|till|before|bis|jusqu|avant|hasta|fino|tot|ate) [^ ]"
"""How long it was until something: an outcome, whatever comes after the word."""
KNOWN = (BIRTH, SEX, MARITAL, PLACE, RACE, COUNTRY, SCHOOL, WORK, HOUSEHOLD, STAY, EVENT)
"""In the order in which they are tried: a civil state is no state, a date of birth no event."""

IDENTIFYING = _any(
    """
            ids? identifier ident uuid guid ssn ein bsn cpf dni nie nif nss nir ahv svnr egn
            (?:first|last|full|user|sur|fore|nick)?names? vornamen? nachnamen? familienname nom prenoms? nombres?
            apellidos? nome cognome sobrenome apelido naam voornaam achternaam patientid personid kundenid e?mail
            courriel correo (?:tele)?phone tel telefon telefonnummer telefono telefoon telefone mobile handy movil
            cellulare celular fax address addresses adresse adressen anschrift direccion indirizzo adres endereco street
            strasse hausnummer rue calle straat rua iban kontonummer kontonr passport pasaporte passeport ausweis
            ausweisnummer login username mrn url website ip ipaddress matricule matricola matricula aktenzeichen
            fallnummer fallnr patientennummer patientennr kundennummer kundennr kennzeichen versichertennummer
            versicherungsnummer steuernummer steuerid sozialversicherungsnummer latitude longitude lat lon lng
            coordinates gps facebook twitter signature unterschrift photo foto rownumber rowid index lfd laufnummer
            codicefiscale
    """
)
SOFT = _any("ids? names? nom nome nombre naam index")
"""Words for a name that stand beside what it names: the name of a city tells where somebody lives."""
MONEY = """
    debt indebted(?:ness)? overdraft overdrawn overdue delinquen(?:t|cy|cies) bankrupt(?:cy)? insolven(?:t|cy)
    solven(?:t|cy) defaulted defaulter foreclosures? repossess(?:ed|ion) garnishment creditworth(?:y|iness)
    creditscore fico scores scoring ratings? mortgages? mortgaged liabilit(?:y|ies) networth risiko risikoklasse
    risikoscore risikostufe kreditrisiko kreditrating kreditscore scorewert schufa bonitat bonitatsklasse
    kreditwurdigkeit kreditausfall zahlungsausfall zahlungsverzug zahlungsruckstand zahlungsstorung ruckstand
    ruckstande mahnung(?:en)? mahnstufe inkasso pfandung(?:en)? insolvenz privatinsolvenz pleite uberschuldet
    uberschuldung uberziehung dispokredit hypothek(?:en)? darlehen baudarlehen kredite schuldner ersparnisse
    risques? defaut defaillance impayes? arrieres? decouvert surendettement endettement faillite insolvabilite
    solvabilite hypotheques? emprunts? prets? notation patrimoine epargne riesgo riesgos impagos? impagad[oa]s?
    moros[oa]s? morosidad mora incumplimiento atrasos? descubiertos? endeudamiento insolvencia insolvente
    solvencia quiebra bancarrota embargos? hipotecas? prestamos? puntuacion calificacion calificacioncrediticia
    patrimonio ahorros? nomina saldos? rischio inadempien(?:za|te|ze) insolvenz[ae] insolvente solvibilita
    morosita arretrat[oi] scoperto pignorament[oi] fallimento indebitamento mutu[oi] ipotec(?:a|he) prestit[oi]
    finanziament[oi] punteggio risparmio? risico risicoscore risicoklasse kredietscore kredietwaardigheid
    wanbetal(?:ing|er) betalingsachterstand achterstand roodstand faillissement insolventie incasso
    beslaglegging hypotheek lening(?:en)? vermogen spaargeld risco inadimplen(?:cia|te) incumprimento atrasado
    insolvencia falencia penhora endividamento hipotecad[oa] emprestimos? financiamentos? pontuacao poupanca
    descoberto renda
    schuld(?:en|ner|s|hulp|bemiddeling|regeling|last|bedrag)\\w* (?:ver|uber|ont)schuld\\w* schuldeisers?
    betalingsregeling skuld(?:er|satt|sattning|sanering|radgivning|belopp)? gjeld(?:s\\w+)? gaeld(?:s\\w+)? inkasso\\w+
    toeslag(?:en)? \\w*uitkering(?:en)? bijstand(?:s\\w+)? sozialhilfe burgergeld grundsicherung wohngeld
    arbeitslosengeld \\w+inkomen \\w+einkommen \\w*inkomst(?:er|en)? (?:monat|jahre|stunden)s?(?:gehalt|lohn)
    (?:maand|jaar|uur)(?:loon|salaris)
    """
"""What somebody owes, has and is trusted with, beside the words in `SENSITIVE`."""
OUTCOME = """
    readmits? readmitted readmission readmissions rehospitali[sz](?:ed|ation) relapsed? relapses recurrences? mortality
    survived survival survivor died deceased verstorben wiederaufnahme rehospitalisierung ruckfall rezidive?
    sterblichkeit mortalitat uberlebt rehospitalisation rechutes? recidives? mortalite deces decede survie reingresos?
    readmision recaidas? recidivas? mortalidad fallecid[oa] supervivencia riammissione riricovero ricadut[ae] mortalita
    decedut[oa] sopravvivenza heropname terugval recidief sterfte overleden overleving readmissao reinternamento
    mortalidade obito sobrevivencia
    """
"""How it ended for somebody who was ill."""
SENSITIVE = _any(
    MONEY
    + OUTCOME
    + """
    health gesundheit gesundheitszustand sante salud salute gezondheid saude
    diseases? diagnos[ei]s diag diagnostics? illness(?:es)? conditions? symptoms? hiv aids treatments? therapy
    therapies medications? drugs? pregnan(?:t|cy) addiction disability disabled icd\\w* comorbidit(?:y|ies)
    cancer tumou?r blood infection result results biopsy genetic mental psychiatric income incomes
    salary wages? earnings pay payment debts? debtors? wealth credit credits loans? balance savings assets?
    capital mortgage arrears rent benefits? welfare bonus religion religious faith belief politics political
    party vote voted union orientation sexuality conviction convicted crime crimes offen[cs]es? sentence
    arrests? prison opinions? satisfaction abuse violence alcohol smoker smoking krankheit(?:en)?
    erkrankung(?:en)? befund diagnosen? hauptdiagnose nebendiagnose symptome behandlung therapie medikamente?
    schwanger(?:schaft)? sucht behinderung einkommen gehalt lohn schulden verschuldung kredit kredithohe
    kreditbetrag kontostand saldo vermogen konfession glaube partei gewerkschaft straftat(?:en)? delikt(?:e)?
    vorstrafen? meinung zufriedenheit raucher blutdruck maladies? traitement grossesse handicap revenus? salaire
    dettes? solde bourses? boursiers? quotient infractions? condamnation avis syndicat parti enfermedad(?:es)?
    diagnosticos? tratamiento embarazo discapacidad ingresos renta salario sueldo deudas? creditos? partido
    delitos? condena opinion
    malatti[ae] diagnosi terapia gravidanza disabilita reddito redditi stipendio debit[oi] credit[oi] religione
    partito reat[oi] condanna opinione ziekten? behandeling zwanger(?:schap)? beperking inkomen salaris loon
    schuld(?:en)? krediet religie geloof partij delict(?:en)? misdrijf mening doencas? tratamento gravidez
    deficiencia rendimentos? dividas? religiao crime opiniao risk score default ausfall outcomes? ausgang
    """
)
TARGET = _any(
    OUTCOME
    + """
    class classes target label labels outcome outcomes y income risk response default churn churned approved
    approval species decision klasse ziel zielvariable ergebnis risiko
    ausfall ausgang classe cible resultat risque clase objetivo resultado riesgo esito rischio bersaglio
    uitkomst risico klas alvo risco desfecho bonitat solvent defaulted kreditausfall zahlungsausfall defaut defaillance
    impago impagado moroso morosidad incumplimiento inadempienza insolvenza wanbetaling inadimplencia inadimplente
    incumprimento
    """
)
WEAK_TARGET = _any("type status result category group typ tipo kategorie gruppe diagnosis diagnose score")
CODED = _any(
    """
    zip zipcode post(?:al|code)s? postalcode plz postleitzahl cp codepostal codigopostal cap cep icd\\w* codes?
    fips code codigo codice tract kennung schlussel isco isced icpc kldb nace naics sic siccode soc nuts naf csp
    cnae ateco sbi noga beruf berufscode berufskode berufsgruppe berufskennziffer berufsschlussel cie10 cim10 atc
    """
)
KIND_WORDS = _any(
    """
    type typ tipo kind art category kategorie categorie categoria group gruppe groupe grupo gruppo groep status
    estado etat stato state code class flag cluster
    """
)
COUNT_WORDS = _any(
    """
    since seit depuis desde dal sinds years? jahre annees anos anni jaren months? monate mois meses num number
    count anzahl nombre numero aantal n nr rate level grade rank score duration dauer duree duracion durata size
    grosse
    """
)
AMOUNT_WORDS = _any(
    """
    amounts? quantity qty total sum price cost costs value weight height length width volume percent pct points hours
    days minutes km kg cm mm temperature pressure pulse bmi betrag menge summe preis kosten wert gewicht hohe lange
    breite prozent punkte stunden tage minuten montant quantite somme prix cout valeur poids taille hauteur heures jours
    importe cantidad suma precio coste costo valor peso altura talla horas dias importo quantita somma prezzo valore
    altezza ore giorni bedrag hoeveelheid totaal som prijs waarde gewicht lengte uren dagen montante quantidade soma
    preco custo
    """
)
MOMENT_WORDS = _any(
    """
    date dates day time datum tag fecha data jour dia giorno dag birth geburtsdatum naissance nacimiento nascita
    nascimento geboortedatum dob aufnahme entlassung admission discharge einzug born
    """
)
FREE_TEXT = _any(
    """
    notes? remarks? comments? text description freetext memo bemerkung(?:en)? kommentare? notiz(?:en)?
    anmerkung(?:en)? beschreibung hinweise? vermerke? remarques? commentaires? annotations? observations?
    observaci(?:on|ones) comentarios? notas? anotaci(?:on|ones) osservazion[ei] comment[oi] annotazion[ei]
    opmerking(?:en)? toelichting observac(?:ao|oes) anotac(?:ao|oes) anamnese
    """
)
