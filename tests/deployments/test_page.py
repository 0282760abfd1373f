"""The chat's page: strict headers, only title and slug in it, and one page for all that is not there."""

import re

import pytest
from django.contrib.auth.hashers import make_password
from django.contrib.staticfiles import finders
from django.test import Client

from credentials.models import ProviderConnection
from deployments.models import AccessMode, ChatDeployment
from tests.deployments.conftest import MakeChat
from workflows.models import Workflow


def test_it_holds_the_title_and_the_slug_and_nothing_else_of_the_chat(
    client: Client, make_chat: MakeChat
) -> None:
    make_chat(
        title="Support <b>&",
        description="MAPLE-31",
        welcome="MAPLE-32",
        access_mode=AccessMode.PASSWORD,
        password_hash=make_password("MAPLE-33"),
    )
    page = client.get("/chat/support").content.decode()
    assert "<title>Support &lt;b&gt;&amp;</title>" in page
    assert 'data-slug="support"' in page
    assert "MAPLE" not in page
    assert "agent_1" not in page


def test_it_runs_no_script_but_ours(client: Client, chat: ChatDeployment) -> None:
    answer = client.get("/chat/support")
    rules = answer.headers["Content-Security-Policy"]
    assert "default-src 'none'" in rules
    assert "script-src 'self';" in rules
    assert "unsafe" not in rules
    assert "require-trusted-types-for 'script'" in rules
    page = answer.content.decode()
    assert not re.search(r"<script(?![^>]*\bsrc=)|<style|\son\w+=|\sstyle=", page)
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.headers["Referrer-Policy"] == "same-origin"


def test_its_files_are_there(client: Client, chat: ChatDeployment) -> None:
    page = client.get("/chat/support").content.decode()
    named = re.findall(r'(?:src|href)="/static/([^"]+)"', page)
    assert named == ["icon.svg", "dist/chat.css", "dist/chat.js"]
    if finders.find("dist/chat.js") is None:
        pytest.skip("the front end is not built: make frontend")
    assert all(finders.find(name) for name in named)


def test_b131_only_listed_sites_may_frame_it(client: Client, make_chat: MakeChat) -> None:
    make_chat("alone")
    make_chat("listed", allowed_origins=["https://shop.example.org", "http://localhost:5173"])
    alone, listed = client.get("/chat/alone"), client.get("/chat/listed")
    assert alone.headers["Content-Security-Policy"].endswith("frame-ancestors 'self'")
    assert listed.headers["Content-Security-Policy"].endswith(
        "frame-ancestors 'self' https://shop.example.org http://localhost:5173"
    )
    assert "X-Frame-Options" not in listed.headers


def test_an_entry_that_is_no_origin_says_nothing_in_the_header(client: Client, make_chat: MakeChat) -> None:
    make_chat(allowed_origins=["*", "https://a.test; script-src *"])
    assert client.get("/chat/support").headers["Content-Security-Policy"].endswith("frame-ancestors 'self'")


@pytest.mark.parametrize("slug", ["nobody", "inactive", "unpublished", "%00", "é", "<b>"])
def test_it_is_one_page_for_all_chats_that_are_not_there(
    client: Client, make_chat: MakeChat, workflow: Workflow, slug: str
) -> None:
    make_chat("inactive", active=False, allowed_origins=["https://shop.example.org"])
    make_chat("unpublished", workflow=Workflow.objects.create(slug="draft", name="Draft"))
    expected, answer = client.get("/chat/never-was"), client.get(f"/chat/{slug}")
    assert answer.status_code == 404
    assert answer.content == expected.content
    assert answer.headers == expected.headers
    assert (
        b"This chat isn&#x27;t available." in answer.content
        or b"This chat isn't available." in answer.content
    )


def test_it_starts_no_session(client: Client, chat: ChatDeployment) -> None:
    assert not client.get("/chat/support").cookies


@pytest.mark.parametrize(("kind", "labelled"), [("demo", True), ("openai-compat", False)])
def test_scripted_answers_are_labelled_as_a_demo(
    client: Client, chat: ChatDeployment, kind: str, labelled: bool
) -> None:
    ProviderConnection.objects.create(name="local", kind=kind, base_url="http://127.0.0.1:9/v1")
    page = client.get("/chat/support").content.decode()
    assert ("data-demo" in page) is labelled


def test_a_page_whose_provider_is_gone_opens_all_the_same(client: Client, chat: ChatDeployment) -> None:
    assert client.get("/chat/support").status_code == 200
