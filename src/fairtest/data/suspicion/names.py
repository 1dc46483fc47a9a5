"""What the name of a column says about its values: that they name people, identify something, weigh rows, or neither.

A name is evidence, never proof: the values have to agree with it (:mod:`fairtest.data.suspicion.repeats`).
"""

from __future__ import annotations

from enum import StrEnum

from fairtest.data.columns.decide import QUANTITIES, split_words

PEOPLE = frozenset(
    [
        "applicant", "beneficiary", "borrower", "buyer", "candidate", "child", "citizen", "claimant", "client",
        "cliente", "consumer", "customer", "defendant", "donor", "driver", "employee", "family", "guest", "holder",
        "household", "individual", "inmate", "insured", "kunde", "kunden", "member", "mother", "nutzer", "offender",
        "panelist", "participant", "passenger", "patient", "people", "person", "personne", "player", "prisoner",
        "pupil", "resident", "respondent", "student", "subject", "subscriber", "taxpayer", "tenant", "user", "usuario",
        "utilisateur", "visitor", "voter", "worker",
        # as they are cut short
        "acct", "cust", "emp", "hh", "indiv", "pat", "pers", "resp", "stud", "subj", "usubj",
        # what belongs to one person or one occasion
        "account", "application", "booking", "card", "case", "claim", "contract", "cookie", "device", "encounter",
        "loan", "order", "passport", "phone", "policy", "record", "session", "ticket", "transaction", "visit",
    ]
)  # fmt: skip
"""Who has several rows in a log, and what stands for them there."""

NAMES_OF_PEOPLE = frozenset(
    ["email", "hhid", "imei", "login", "msisdn", "nino", "pid", "ssn", "userid", "username"]
)  # fmt: skip
"""Whole names that need no other word."""

IDENTIFIERS = frozenset(
    [
        "code", "guid", "hash", "id", "identifier", "idx", "index", "key", "nbr", "no", "nr", "num", "number", "numero",
        "nummer", "pk", "ref", "reference", "sk", "token", "uid", "uuid",
    ]
)  # fmt: skip
"""Words for something that identifies, when they come last (or first: ``id_user``)."""
COUNTING = frozenset(["num", "number"])
"""Those that may as well say how many: ``child_num``."""
IDENTIFIERS_ALONE = frozenset(["guid", "id", "identifier", "uid", "uuid"])
"""Those that say so also as the whole name: a code, a number or a key may be of anything."""

ORDINARY = QUANTITIES | frozenset(
    [
        # places and what stands in them
        "address", "area", "block", "borough", "branch", "city", "college", "country", "county", "department", "dept",
        "district", "hospital", "lat", "latitude", "location", "lon", "longitude", "municipality", "neighborhood",
        "neighbourhood", "place", "plz", "postal", "postcode", "province", "region", "school", "shop", "site", "state",
        "station", "store", "street", "suburb", "town", "tract", "village", "ward", "zip", "zipcode",
        # what people are, do, earn and buy
        "brand", "category", "class", "company", "employer", "ethnicity", "firm", "grade", "group", "industry", "item",
        "job", "kind", "language", "major", "make", "model", "name", "nationality", "occupation", "pay", "product",
        "profession", "race", "sector", "segment", "sku", "species", "title", "type",
        # what happened, when, and in which words
        "campaign", "cause", "channel", "comment", "date", "day", "description", "diag", "diagnosis", "disposition",
        "drug", "hour", "icd", "label", "level", "medication", "minute", "month", "plan", "procedure", "rank", "source",
        "status", "tag", "text", "url", "week",
    ]
)  # fmt: skip
"""Words for what many people share: their values repeat, and nobody is meant by them."""

WEIGHTS = frozenset(
    [
        "finalwgt", "finalwt", "fnlwgt", "fnlwt", "fwgt", "hhwgt", "hhwt", "hwgt", "perwgt", "perwt", "psweight",
        "pweight", "pwgt", "pwgtp", "pwt", "sampwt", "sampweight", "svywt", "wght", "wgt", "wgtp", "wtfinl", "wtint",
        "wtmec", "wtssall", "wtsupp",
    ]
)  # fmt: skip
"""What surveys call their weights, and nobody calls anything else."""
WEIGHT = frozenset(["weight", "weights", "wt", "wts"])
OF_A_SAMPLE = frozenset(
    [
        "analysis", "calibrated", "calibration", "design", "expansion", "final", "household", "inverse", "ipw",
        "nonresponse", "person", "population", "post", "poststratification", "probability", "raked", "raking",
        "replicate", "respondent", "sample", "sampling", "stratification", "survey",
    ]
)  # fmt: skip
"""Words that make a weight one of a sample; other words make it one of bodies and goods."""


class Meaning(StrEnum):
    """What a name says of the values of a column.

    Attributes
    ----------
    PERSON
        They identify people, or what belongs to one: ``user_id``, ``patient_nbr``, ``email``.
    SOMEBODY
        They may be people: ``customer``, if its values look like numbers of customers.
    IDENTIFIER
        They identify something: ``id``.
    ORDINARY
        They are shared by many: ``zip_code``, ``store_id``, ``age``.
    UNKNOWN
        Nothing.
    """

    PERSON = "person"
    SOMEBODY = "somebody"
    IDENTIFIER = "identifier"
    ORDINARY = "ordinary"
    UNKNOWN = "unknown"


def meaning_of(name: str) -> Meaning:
    """Return what a name says.

    Examples
    --------
    >>> [meaning_of(n).value for n in ("user_id", "PatientNbr", "custid", "customer", "id")]
    ['person', 'person', 'person', 'somebody', 'identifier']
    >>> [meaning_of(n).value for n in ("zip_code", "store_id", "patient_age", "number_of_patients", "ref")]
    ['ordinary', 'ordinary', 'ordinary', 'ordinary', 'unknown']
    """
    words = split_words(name)
    if not words:
        return Meaning.UNKNOWN
    if "".join(words) in NAMES_OF_PEOPLE or _is_joined(words[-1]):
        return Meaning.PERSON
    of = _find_identified_thing(words)
    if of is None:
        if words[-1] in PEOPLE and not QUANTITIES.intersection(words[:-1]):
            return Meaning.SOMEBODY
        return Meaning.ORDINARY if _is_ordinary(words) else Meaning.UNKNOWN
    if not of:
        return Meaning.IDENTIFIER if words[0] in IDENTIFIERS_ALONE else Meaning.UNKNOWN
    if of[-1] in PEOPLE:
        return Meaning.SOMEBODY if words[-1] in COUNTING else Meaning.PERSON
    return Meaning.ORDINARY if _is_ordinary(of) else Meaning.UNKNOWN


def _find_identified_thing(words: list[str]) -> list[str] | None:
    """Return the words for what is identified, if a word says that something is."""
    if words[-1] in IDENTIFIERS:
        return words[:-1]
    return words[1:] if words[0] in IDENTIFIERS_ALONE else None


def _is_joined(word: str) -> bool:
    """Whether a word is one for people and one for identifiers without anything between: ``custid``, ``patientno``."""
    return any(word.endswith(end) and word.removesuffix(end) in PEOPLE for end in IDENTIFIERS - COUNTING)


def _is_ordinary(words: list[str]) -> bool:
    return any(word in ORDINARY or word.removesuffix("s") in ORDINARY for word in words)


def weight_meant(name: str) -> bool | None:
    """Return whether a name says that the values weigh rows: None where it says weight, and not of what.

    Examples
    --------
    >>> [weight_meant(n) for n in ("fnlwgt", "survey_weight", "weight", "birth_weight")]
    [True, True, None, False]
    """
    words = split_words(name)
    if WEIGHTS.intersection(words) or {"expansion", "factor"} <= set(words):
        return True
    if not WEIGHT.intersection(words):
        return False
    others = [word for word in words if word not in WEIGHT]
    return True if OF_A_SAMPLE.intersection(others) else False if others else None
