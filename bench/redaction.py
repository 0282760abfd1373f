"""What masking costs per KB of prose, with every kind of rule, without and with matches."""

from collections.abc import Iterator
from functools import partial

from bench.clock import Result, per_call
from redaction.engine import RuleSpec, compile_rules

KINDS = ("email", "credit_card", "iban", "ip_address", "url", "cpf", "cnpj", "us_ssn", "secret_key")
RULES = [
    *(RuleSpec(kind) for kind in KINDS),
    RuleSpec("phone", regions=("BR", "US")),
    RuleSpec("regex", pattern=r"ORD-\d{6}"),
    RuleSpec("words", words=("Project Falcon",)),
]
PROSE = (
    "The parcel left our house on Tuesday, and the carrier says that it will arrive within three days; "
    "if it has not come by the end of the week, tell us, and we send another one at no cost. "
)
PRIVATE = "Write to ana@example.com or call +55 11 91234-5678 about ORD-204811; card 4111 1111 1111 1111. "


def measure() -> Iterator[Result]:
    masker = compile_rules(RULES)
    plain = PROSE * 40
    mixed = (PROSE * 4 + PRIVATE) * 8
    for name, text in (("prose without matches", plain), ("prose with matches", mixed)):
        seconds = per_call(partial(masker.mask, text))
        yield Result(
            f"redaction, {len(RULES)} rules, {name}", seconds / (len(text) / 1024) * 1e6, "µs per KB"
        )
