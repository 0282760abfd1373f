"""Values that each kind must find, and the disguises in which they may come. All are made up."""

from collections.abc import Callable

from hypothesis import settings

from redaction.engine import Masker, RuleSpec, compile_rules

#: The first look at a kind of number loads its tables; a busy machine is slow now and then.
unhurried = settings(deadline=None)

VALID: dict[str, list[str]] = {
    "email": ["demo.user@example.org", "a+b@sub.example.co.uk", "o'neil@example.com"],
    "phone": ["+55 11 98765-4321", "(212) 555-2368", "11987654321", "+44 20 7946 0958"],
    "credit_card": ["4000 0012 3456 7899", "4111111111111111", "3782 822463 10005", "5500-0000-0000-0004"],
    "iban": ["DE89 3704 0044 0532 0130 00", "GB29NWBK60161331926819", "NO9386011117947"],
    "ip_address": ["192.0.2.17", "2001:db8::8a2e:370:7334"],
    "url": ["https://internal.example.com/wiki?page=2", "www.example.org", "example.com.br/conta"],
    "cpf": ["529.982.247-25", "52998224725"],
    "cnpj": ["11.222.333/0001-81", "11222333000181", "12.ABC.345/01DE-35"],
    "us_ssn": ["123-45-6789"],
    "secret_key": [
        "sk-proj-abc123def456ghi789jkl",
        "AKIAIOSFODNN7EXAMPLE",
        "ghp_0123456789abcdefghijABCDEFGHIJ012345",
    ],
    "regex": ["ORD-123456"],
    "words": ["Project Falcon"],
}

PLANTED = [(kind, value) for kind, values in VALID.items() for value in values]

RULES: dict[str, RuleSpec] = {
    kind: RuleSpec(
        kind,
        regions=("BR", "US") if kind == "phone" else (),
        pattern=r"ORD-\d{6}" if kind == "regex" else "",
        words=("Project Falcon",) if kind == "words" else (),
    )
    for kind in VALID
}


def masker(*kinds: str) -> Masker:
    return compile_rules([RULES[kind] for kind in kinds or RULES])


def _full_width(text: str) -> str:
    """All but the marks that end a sentence where they are written full-width."""
    return "".join(
        chr(ord(char) + 0xFEE0) if "!" <= char <= "~" and char not in "!?,;" else char for char in text
    )


def _between(mark: str) -> Callable[[str], str]:
    return lambda text: mark.join(text)


def _after_digits(mark: str) -> Callable[[str], str]:
    return lambda text: "".join(char + mark if char.isdigit() else char for char in text)


def _digits_from(zero: int) -> Callable[[str], str]:
    return lambda text: "".join(chr(zero + int(char)) if char.isdigit() else char for char in text)


DISGUISES: dict[str, Callable[[str], str]] = {
    "as it is": str,
    "full width": _full_width,
    "no-break spaces": lambda text: text.replace(" ", "\u00a0"),
    "narrow no-break spaces": lambda text: text.replace(" ", "\u202f"),
    "non-breaking hyphens": lambda text: text.replace("-", "\u2011"),
    "zero-width spaces": _between("\u200b"),
    "zero-width joiners": _between("\u200d"),
    "word joiners": _between("\u2060"),
    "soft hyphens": _between("\u00ad"),
    "byte order marks": _between("\ufeff"),
    "direction marks": _between("\u200f"),
    "combining underlines": _after_digits("\u0332"),
    "enclosing keycaps": _after_digits("\ufe0f\u20e3"),
    "variation selectors": _after_digits("\ufe0e"),
    "control characters": _after_digits("\x01"),
    "Arabic digits": _digits_from(0x0660),
    "Devanagari digits": _digits_from(0x0966),
    "mathematical digits": _digits_from(0x1D7CE),
}


def bare(text: str) -> str:
    """What a person could still read of a value: its letters and digits."""
    return "".join(char for char in text.casefold() if char.isalnum())
