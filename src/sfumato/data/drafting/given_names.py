"""Given names that are frequent where the seven languages of drafts are spoken, without accents.

Names that are towns or words as well are left out. A column in which many texts have one of them holds people.
"""

from __future__ import annotations

_FREQUENT = """
    aaron adam ahmed aisha alain alberto alessandro alessia alexander ali alice amanda amy ana andre andrea andreas
    andrew angela angelo anja anna anneke anneliese anthony antoine antonio ashley aurelie ayse barbara bas
    beatriz benjamin bernard bernd betty birgit brandon brenda brian brigitte bruno camille carlo carlos carmen
    carol catarina catherine celine chantal chiara chloe christa christian christina christine christopher
    claude claudia cornelia cornelis cristina cynthia daniel david davide deborah debra dennis diane diego dieter
    dirk dolores domenico donna doris dorothy edith edward elena elisabeth elizabeth elke emily emma emre
    enrique eric erika ernst evelyn fatima federica felix fernando finn florian francesca francesco francisco franco
    francois francoise frank frieda fritz gabriele gary george gerard gerhard gerrit gertrud giovanna giovanni
    gisela giulia giuseppe giuseppina gloria goncalo gregory greta guillaume gunter hannah hans harold hassan
    heather heike heinz helen helga helmut hendrik henk henry hildegard horst hugo ibrahim ilse ines ingrid irmgard
    isabel isabelle jack jacob jacques james jan janice jason javier jean jeanne jeffrey jennifer jerry jessica
    joachim joan joao johanna johannes john jonas jonathan joost jorge jose josefa joseph joshua joyce juan
    judith julia julie julien jurgen justin karen karin karl katharina katherine kathleen kathryn katrin kees kelly
    kenneth kevin kimberly klaus kurt larry laura laurent lea lena leonor linda lisa louis luca lucia luigi
    luis lukas maarten manfred manon manuel marcel marco margaret margarida maria mariana marie marijke mario markus
    marta martha martina martine mary mathieu matilde matteo matthew matthias mehmet melissa mia
    michael michel michelle miguel mohamed mohammed monika monique moritz muhammad mustafa nadine nancy
    nathalie nathan nicholas nicolas nicole nuno olivia olivier omar otto pablo pamela paola paolo pascal patrice
    patricia patrick paul paula paulo pedro peter petra philippe pierre pieter pietro pilar rachel rafael rainer
    ralf ramon raquel raul rebecca renate ricardo richard robert rolf ronald rui ryan sabine salvatore samantha
    samuel sander sandra sandrine sara sarah scott sebastian sergio sharon shirley silke silvia simone sophie stefan
    stefanie stephanie stephen susan susanne sylvie teresa thierry thomas tiago timothy tobias torsten tyler ursula
    ute uwe valentina veronique vincenzo walter werner wilhelmina willem william wolfgang zachary
"""
GIVEN_NAMES = frozenset(_FREQUENT.split())
"""In lower case."""
