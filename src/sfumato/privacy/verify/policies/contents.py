"""What a column seems to hold, by its name and by the form of its values: what rules on identifiers are about.

It is a guess, in English names. Whoever publishes says what each such column holds, and the certificate tells it: here
is only seen that nothing of the kind was left unsaid.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

CONTENTS = (
    *("name", "area", "zip", "state", "date", "birth", "age", "telephone", "fax", "email", "social_security"),
    *("medical_record", "health_plan", "account", "licence", "vehicle", "device", "url", "ip", "biometric"),
    *("photograph", "code", "other"),
)
"""What a column may be said to hold; "other" is nothing that a rule on identifiers is about."""

# Tried in this order, so that an e-mail address is no address and a birth date no date. A word is a whole word.
_NAMES = {
    "email": "e ?mails?|email address",
    "ip": "ip|ip address(?:es)?",
    "url": "urls?|website|homepage|web address",
    "fax": "fax|fax number",
    "telephone": "(?:tele)?phones?|mobile|cell|telephone number|phone number",
    "social_security": "ssn|social security|social security number",
    "medical_record": "mrn|medical record|medical record number|chart number|patient number|patient id",
    "health_plan": "health plan|beneficiary|member id|member number|insurance number|policy number|mbi|hicn",
    "account": "account|account number|iban|card number|credit card",
    "vehicle": "vin|vehicle|licen[cs]e plate|plate|registration plate",
    "licence": "licen[cs]e|licen[cs]e number|certificate number|passport|passport number|dea number|npi",
    "device": "device|serial|serial number|device id|udi|mac address|imei",
    "biometric": "fingerprints?|voiceprints?|retina|iris|biometric|biometrics|dna",
    "photograph": "photos?|photographs?|face|portrait|picture|image",
    "name": "(?:first|last|full|middle|maiden|sur|fore|user|nick)? ?names?|initials",
    "birth": "birth|birthday|birthdate|date of birth|dob|yob|born",
    "age": "ages?",
    "zip": "zips?|zip code|zipcode|postcode|postal|postal code|zip3|zip5",
    "area": "address(?:es)?|street|city|town|county|precinct|parish|tract|district|neighbou?rhood|village|fips|"
    "latitude|longitude|lat|lon|lng|geocode|borough|municipality",
    "date": "dates?|admitted|admission|discharged?|died|death|visited|timestamp|datetime",
    "code": "ids?|identifier|uuid|guid|pseudonym|token|row number|case number|record number",
}
_PATTERNS = {content: rf"(?:^| )(?:{words})(?: \d+)?$|^(?:{words}) " for content, words in _NAMES.items()}
_FORMS = {
    "email": r"[^\s@]+@[^\s@]+\.[A-Za-z]{2,}",
    "url": r"(?:https?://|www\.)\S+",
    "ip": r"(?:\d{1,3}\.){3}\d{1,3}|(?:[0-9a-fA-F]{0,4}:){4,7}[0-9a-fA-F]{0,4}",
    "social_security": r"\d{3}-\d{2}-\d{4}",
    "telephone": r"(?:\+?1[ .-]?)?\(?\d{3}\)?[ .-]\d{3}[ .-]\d{4}",
    "date": r"(?:19|20)\d\d-\d\d-\d\d(?:[T ].*)?|\d{1,2}/\d{1,2}/(?:19|20)\d\d",
}
MOST = 1000  # different values that are looked at
SHARE = 0.5  # of them that have a form, for the column to be of it


def content_of(name: str, values: Iterable[object] = ()) -> str | None:
    """What a column seems to hold; None where it seems to be nothing of the kind.

    >>> content_of("patientEmail"), content_of("average"), content_of("date_of_birth"), content_of("page", ["a@b.de"])
    ('email', None, 'birth', 'email')
    """
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name)
    plain = " ".join(re.findall(r"[a-z]+\d*|\d+", spaced.lower()))
    named = next((content for content, pattern in _PATTERNS.items() if re.search(pattern, plain)), None)
    return named if named is not None else formed(values)


def formed(values: Iterable[object]) -> str | None:
    """What at least half of the first values look like.

    >>> formed(["219-09-9999", "078-05-1120"]), formed([3, 5])
    ('social_security', None)
    """
    texts = [value for _, value in zip(range(MOST), values, strict=False) if isinstance(value, str) and value]
    for content, form in _FORMS.items():
        if texts and sum(re.fullmatch(form, text) is not None for text in texts) > SHARE * len(texts):
            return content
    return None
