"""What each kind finds in ordinary text, and what it leaves alone."""

import pytest

from redaction.detectors import DETECTORS
from redaction.models import RuleKind
from tests.redaction.values import masker


def test_it_has_a_detector_for_every_kind() -> None:
    assert list(DETECTORS) == RuleKind.values


MASKED = [
    ("email", "Write to a@example.org, or b@example.org.", "Write to [email], or [email]."),
    ("email", "**a@example.org**", "**[email]**"),
    ("email", "联系a@example.org谢谢", "联系[email]谢谢"),
    ("email", "用户@例子.公司", "[email]"),
    ("email", '"john doe"@example.org', "[email]"),
    (
        "email",
        "a%40example.org &amp; a&#64;example.org a&commat;example.org",
        "[email] &amp; [email] [email]",
    ),
    ("email", "root@[192.0.2.1]", "[email]"),
    ("email", "jose\u0301@exa\u0301mple.org!", "[email]!"),
    ("phone", "(11) 98765-4321 (21) 99876-5432", "[phone] [phone]"),
    ("phone", "11 98765-4321 21 99876-5432", "[phone] [phone]"),
    ("phone", "0055 11 98765 4321, 011 98765-4321, 55 11 98765-4321", "[phone], [phone], [phone]"),
    ("phone", "(+55) 11 98765-4321; tel:11987654321", "[phone]; tel:[phone]"),
    ("phone", "电话11987654321好", "电话[phone]好"),
    ("phone", '{"phone": "2125552368"}', '{"phone": "[phone]"}'),
    ("credit_card", "卡号4000001234567899有效", "卡号[credit_card]有效"),
    ("credit_card", "nr4000001234567899", "nr[credit_card]"),
    ("credit_card", "12 4000 0012 3456 7899 34", "12 [credit_card] 34"),
    ("credit_card", "4000 0012 34\n56 7899", "[credit_card]"),
    ("credit_card", "4 0 0 0 0 0 1 2 3 4 5 6 7 8 9 9", "[credit_card]"),
    ("iban", "DE89 3704 0044 0532 0130 00 and more", "[iban] and more"),
    ("iban", "IBANde89370400440532013000Bank", "IBAN[iban]Bank"),
    ("ip_address", "http://192.0.2.1:80, fe80::1. ::1", "http://[ip_address]:80, [ip_address]. [ip_address]"),
    ("url", "(see https://example.com/a(b)?q=1). Then", "(see [url]). Then"),
    ("url", "请访问https://example.org获取", "请访问[url]获取"),
    ("url", "http://例子.公司/路径，谢谢", "[url]，谢谢"),
    ("url", "ftp://user:pw@host/x [a](https://x.example/a)", "[url] [a]([url])"),
    ("cpf", "529 982 247 25", "[cpf]"),
    ("cnpj", "12abc34501de35, 11 222 333 0001 81", "[cnpj], [cnpj]"),
    ("us_ssn", "123 45 6789; SSN: 123456789", "[us_ssn]; SSN: [us_ssn]"),
    ("secret_key", "api_key = 'abcd1234efgh5678'", "api_key = '[secret_key]'"),
    ("secret_key", "Authorization: Bearer abcd1234efgh5678", "Authorization: Bearer [secret_key]"),
    ("secret_key", "postgres://user:pw@db/x", "postgres://user:[secret_key]@db/x"),
    ("secret_key", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl", "[secret_key]"),
    ("secret_key", "-----BEGIN RSA PRIVATE KEY-----\nx\n-----END RSA PRIVATE KEY-----.", "[secret_key]."),
    ("secret_key", "-----BEGIN PRIVATE KEY-----\ncut off", "[secret_key]"),
    ("words", "PROJECT\nFALCON, 项目Project Falcon很好", "[words], 项目[words]很好"),
    ("words", "Próject   Fálcon's", "[words]'s"),
]


@pytest.mark.parametrize(("kind", "text", "expected"), MASKED)
def test_it_masks(kind: str, text: str, expected: str) -> None:
    assert masker(kind).mask(text) == expected


KEPT = [
    ("email", "@handle, a@b, me@1.2, foo@, 5 @ 3.50, user@localhost"),
    ("phone", "98765-4321"),
    ("phone", "2026-12-01T10:00:00, 2026-12-01 10:00, 01/12/2026, 01.12.2026"),
    ("phone", "10.20.30.40, v1.2.3"),
    ("phone", "R$ 1 234 567,00, 12.345.678"),
    ("phone", "0.2125552368"),
    ("phone", "nr11987654321, 11987654321_x"),
    ("phone", '{"id": 9876543210, "orderId": "2125552368", "user_ids": [2125552368, 2125552369]}'),
    ("credit_card", "4000 0012 3456 7890"),
    ("credit_card", "0000 0000 0000 0000"),
    ("credit_card", "0.4000001234567899"),
    ("credit_card", "a1b4000001234567899c3"),
    ("credit_card", "2019 2020 2021 2022, 2020-12-01 2021-12-02 2022-12-03"),
    ("iban", "DE88 3704 0044 0532 0130 00"),
    ("iban", "XX89 3704 0044 0532 0130 00"),
    ("ip_address", "v1.2.3.4, 1.2.3.4.5, 256.1.1.1, 12:30:45, std::vector, abc::def, aa:bb:cc:dd:ee:ff"),
    ("url", "main.py, e.g. this, and/or, a@example.org, 3.14"),
    ("cpf", "529.982.247-26"),
    ("cnpj", "11.222.333/0001-82"),
    ("us_ssn", "123456789, 666-12-1234, 123-456-7890"),
    (
        "secret_key",
        "sk-learn-is-a-nice-library, token authentication, password: hunter2, st_patricks_day_parade",
    ),
    ("words", "Project Falcons, Projectile, project_falcon"),
]


@pytest.mark.parametrize(("kind", "text"), KEPT)
def test_it_keeps(kind: str, text: str) -> None:
    assert masker(kind).mask(text) == text


@pytest.mark.parametrize("word", ["C++", "hey!", "£5", "a", "项目", "naïve", "ﬁle", "İx"])
def test_it_finds_words_of_every_kind(word: str) -> None:
    from redaction.engine import RuleSpec, compile_rules

    rule = compile_rules([RuleSpec("words", words=(word,))])
    assert rule.mask(f"{word}, ({word}) {word}") == "[words], ([words]) [words]"


def test_it_finds_words_that_touch() -> None:
    from redaction.engine import RuleSpec, compile_rules

    rule = compile_rules([RuleSpec("words", words=("a!", "b!", "b"))])
    assert rule.mask("a!b!a!") == "[words][words][words]"
