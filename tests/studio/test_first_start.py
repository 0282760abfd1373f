import pytest
from django.contrib.auth import authenticate, get_user_model

from deployments.models import ChatDeployment
from studio import first_start
from workflows.models import Workflow

pytestmark = [pytest.mark.django_db]


def test_it_makes_an_admin_with_the_password_it_returns() -> None:
    password = first_start.prepare()
    assert password
    admin = authenticate(username="admin", password=password)
    assert admin is not None
    assert admin.is_superuser


def test_it_makes_a_demo_with_both_toggles_on() -> None:
    first_start.prepare()
    chat = ChatDeployment.objects.get(slug="demo")
    assert (chat.include_thinking, chat.include_tool_calls, chat.access_mode) == (True, True, "public")
    assert chat.workflow.published is not None
    assert first_start.a_chat() == "demo"


def test_it_does_all_that_only_once() -> None:
    first_start.prepare()
    ChatDeployment.objects.all().delete()
    Workflow.objects.all().delete()
    assert first_start.prepare() is None
    assert not ChatDeployment.objects.exists()
    assert get_user_model()._default_manager.count() == 1


def test_it_leaves_a_studio_alone_that_has_accounts() -> None:
    get_user_model()._default_manager.create_user(username="somebody")
    assert first_start.prepare() is None
    assert not Workflow.objects.exists()


def test_it_names_another_chat_when_the_demo_is_gone() -> None:
    assert first_start.a_chat() is None
    first_start.prepare()
    ChatDeployment.objects.update(slug="own")
    assert first_start.a_chat() == "own"
    ChatDeployment.objects.update(active=False)
    assert first_start.a_chat() is None
