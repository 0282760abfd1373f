"""What an admin does, and what it changes for the next visitor."""

from playwright.sync_api import Page, expect

from tests.browser.conftest import PASSWORD, PHONE, OpenPage, Studio, ask, settled
from tests.browser.test_chat import CLOCK, serious_faults
from tests.providers_server import Reply, ThreadedProviderServer, chunk, sse, text_reply, tool_reply


def sign_in(open_page: OpenPage, studio: Studio, path: str, **options: object) -> Page:
    page = open_page(f"{studio.url}/admin/login/?next={path}", **options)
    page.get_by_label("Username").fill("admin")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Log in").click()
    page.wait_for_url(f"{studio.url}{path}")
    return page


def thinking_turns() -> list[Reply]:
    thinking = sse(chunk({"reasoning_content": "CEDAR-12 first"}), done=False)
    call = tool_reply(("c1", "current_time", "{}")).steps[0]
    assert isinstance(call, bytes)
    return [Reply([thinking, call]), text_reply("It is noon.")]


def test_a_toggle_in_the_list_changes_the_next_message(
    studio: Studio, model: ThreadedProviderServer, open_page: OpenPage
) -> None:
    studio.configure([CLOCK])
    studio.make_admin()
    visitor = open_page(studio.chat_url)
    model.reply(*thinking_turns())
    ask(visitor, "What time is it?")
    settled(visitor)
    assert "CEDAR-12" not in visitor.content()

    admin = sign_in(open_page, studio, "/admin/deployments/chatdeployment/")
    admin.locator("input[name$=include_thinking]").check()
    admin.locator("input[name$=include_tool_calls]").check()
    admin.get_by_role("button", name="Save").click()
    expect(admin.locator(".messagelist .success")).to_be_visible()

    model.reply(*thinking_turns())
    ask(visitor, "And now?")
    settled(visitor)
    expect(visitor.locator(".answer").last.locator(".thinking-text")).to_have_text("CEDAR-12 first")
    expect(visitor.locator(".answer").last.locator(".chip-name")).to_have_text("Current time")

    admin.goto(f"{studio.url}/admin/audit/auditentry/")
    expect(admin.locator("#result_list")).to_contain_text("include thinking: off → on")
    studio.forget_what_was_applied()


def test_its_first_page_shows_the_day_and_has_no_serious_fault(
    studio: Studio, model: ThreadedProviderServer, open_page: OpenPage
) -> None:
    studio.make_admin()
    model.reply(text_reply("One."))
    visitor = open_page(studio.chat_url)
    ask(visitor, "Hello")
    settled(visitor)
    for options in ({}, {"color_scheme": "dark"}, PHONE):
        page = sign_in(open_page, studio, "/admin/", **options)
        expect(page.get_by_text("Runs today")).to_be_visible()
        expect(page.get_by_role("img", name="Runs a day over 14 days")).to_be_visible()
        assert serious_faults(page) == []
