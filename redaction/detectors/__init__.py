"""What can be found, one module a kind. To add a kind: a module, a row here and one in `redaction.models`."""

from redaction.detectors import (
    brazil,
    credit_card,
    email,
    iban,
    ip_address,
    patterns,
    phone,
    secret_key,
    url,
    us_ssn,
    words,
)
from redaction.detectors.base import Builder, Detector, simple
from redaction.spec import RuleSpec


def _presidio(spec: RuleSpec) -> Detector:
    from redaction import presidio

    return presidio.build(spec)


DETECTORS: dict[str, Builder] = {
    "email": simple(email.find),
    "phone": phone.build,
    "credit_card": simple(credit_card.find),
    "iban": simple(iban.find),
    "ip_address": simple(ip_address.find),
    "url": simple(url.find),
    "cpf": simple(brazil.find_cpf),
    "cnpj": simple(brazil.find_cnpj),
    "us_ssn": simple(us_ssn.find),
    "secret_key": simple(secret_key.find),
    "regex": patterns.build,
    "words": words.build,
    "presidio": _presidio,
}
