import pytest

from audit.models import AuditEntry
from credentials.models import Secret
from deployments.models import ChatDeployment, ChatRedactionRule
from workflows.models import Workflow


@pytest.fixture
def chat(db: None) -> ChatDeployment:
    workflow = Workflow.objects.create(slug="support", name="Support")
    return ChatDeployment.objects.create(slug="support", title="Support", workflow=workflow)


def changes_of(kind: str) -> list[object]:
    return [entry.changes for entry in AuditEntry.objects.filter(kind=kind, action="changed")]


def test_it_audits_a_toggle(chat: ChatDeployment) -> None:
    chat.include_thinking = True
    chat.save()
    assert changes_of("chat") == [{"include_thinking": [False, True]}]


def test_it_audits_a_rule_of_a_chat(chat: ChatDeployment) -> None:
    rule = ChatRedactionRule.objects.create(chat=chat, kind="email")
    rule.active = False
    rule.save()
    rule.delete()
    found = [entry.action for entry in AuditEntry.objects.filter(kind="redaction rule").order_by("id")]
    assert found == ["added", "changed", "deleted"]


def test_it_says_of_a_password_only_that_it_changed(chat: ChatDeployment) -> None:
    chat.password_hash = "pbkdf2$CEDAR-12"
    chat.save()
    assert changes_of("chat") == [{"password_hash": "changed"}]
    assert "CEDAR-12" not in str(list(AuditEntry.objects.values()))


@pytest.mark.django_db
def test_it_says_of_a_secret_only_that_it_changed() -> None:
    secret = Secret(name="ORDER_KEY", hosts=["orders.example.com"])
    secret.set_value("MAPLE-31")
    secret.save()
    secret.set_value("MAPLE-32")
    secret.save()
    assert changes_of("secret") == [{"value_encrypted": "changed"}]
    assert "MAPLE" not in str(list(AuditEntry.objects.values()))


def test_it_audits_a_published_version(chat: ChatDeployment) -> None:
    version = chat.workflow.versions.create(number=1, graph={})
    chat.workflow.published = version
    chat.workflow.save()
    assert changes_of("workflow") == [{"published": [None, "support v1"]}]
