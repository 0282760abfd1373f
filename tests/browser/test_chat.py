"""What a visitor sees and does on the chat page."""

import threading
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import PHONE, OpenPage, Studio, ask, settled
from tests.conftest import StartServer
from tests.providers_server import (
    Reply,
    ThreadedProviderServer,
    chunk,
    error_reply,
    sse,
    text_reply,
    tool_reply,
)

CLOCK = {"type": "builtin", "name": "current_time"}


def held_reply(*deltas: str) -> tuple[Reply, threading.Event]:
    """An answer that says `deltas` and then waits for the event before it ends."""
    go_on = threading.Event()
    first = sse(*(chunk({"content": delta}) for delta in deltas), done=False)
    return Reply([first, go_on, sse(chunk(finish="stop"))]), go_on


def test_it_shows_the_answer_live_and_keeps_the_conversation(
    studio: Studio, model: ThreadedProviderServer, open_page: OpenPage
) -> None:
    reply, go_on = held_reply("It left on ", "**Monday**.")
    model.reply(reply)
    page = open_page(studio.chat_url)
    expect(page.get_by_text("How can I help you today?")).to_be_visible()
    page.get_by_role("button", name="Where is my order?").click()
    expect(page.locator(".answer strong")).to_have_text("Monday")
    expect(page.get_by_role("button", name="Stop")).to_be_visible()
    expect(page.locator("#message")).to_be_focused()
    go_on.set()
    settled(page)
    expect(page.locator(".answer")).to_contain_text("It left on Monday.")
    page.reload()
    expect(page.locator(".mine")).to_contain_text("Where is my order?")
    expect(page.locator(".answer strong")).to_have_text("Monday")


def test_it_shows_thinking_and_tools_only_while_their_toggles_are_on(
    studio: Studio, model: ThreadedProviderServer, open_page: OpenPage
) -> None:
    def turns() -> list[Reply]:
        thinking = sse(chunk({"reasoning_content": "CEDAR-12 first"}), done=False)
        call = tool_reply(("c1", "current_time", "{}")).steps[0]
        assert isinstance(call, bytes)
        return [Reply([thinking, call]), text_reply("It is noon.")]

    studio.configure([CLOCK], include_thinking=True, include_tool_calls=True)
    model.reply(*turns())
    page = open_page(studio.chat_url)
    ask(page, "What time is it?")
    settled(page)
    page.get_by_role("button", name="Thought for").click()
    expect(page.locator(".thinking-text")).to_have_text("CEDAR-12 first")
    page.get_by_role("button", name="Used 1 tool").click()
    expect(page.locator(".chip")).to_have_text("Current timedone")

    studio.configure([CLOCK])
    model.reply(*turns())
    ask(page, "And now?")
    settled(page)
    newest = page.locator(".answer").last
    expect(newest).to_contain_text("It is noon.")
    expect(newest.locator(".thinking, .tools")).to_have_count(2)
    expect(newest.locator(".thinking:visible, .tools:visible")).to_have_count(0)


def test_b018_stop_closes_the_models_connection_and_is_remembered(
    studio: Studio, model: ThreadedProviderServer, open_page: OpenPage
) -> None:
    model.reply(Reply([sse(chunk({"content": "Once upon"}), done=False)], stays_open=True))
    page = open_page(studio.chat_url)
    ask(page, "Tell me a story")
    expect(page.locator(".answer")).to_contain_text("Once upon")
    page.wait_for_timeout(450)  # a press right after Send is taken for a double press
    page.get_by_role("button", name="Stop").click()
    expect(page.locator(".note")).to_have_text("Stopped")
    expect(page.locator(".answer")).to_contain_text("Once upon")
    assert model.requests[0].left.wait(2)
    page.reload()
    expect(page.locator(".note")).to_have_text("Stopped")
    expect(page.locator(".answer")).not_to_contain_text("Once upon")


def test_it_offers_to_try_again_when_the_model_fails(
    studio: Studio, model: ThreadedProviderServer, open_page: OpenPage
) -> None:
    model.reply(error_reply(401, {"error": {"message": "MAPLE-31 is no key"}}))
    page = open_page(studio.chat_url)
    ask(page, "Hello")
    settled(page)
    expect(page.locator(".note")).to_contain_text("Something went wrong on our side.")
    assert "MAPLE-31" not in page.content()
    model.reply(text_reply("Here I am."))
    page.get_by_role("button", name="Try again").click()
    expect(page.locator(".answer").last).to_contain_text("Here I am.")
    expect(page.locator(".answer")).to_have_count(1)


def test_it_keeps_the_text_and_says_so_when_the_connection_drops(
    studio_server: StartServer, model: ThreadedProviderServer, open_page: OpenPage
) -> None:
    studio = Studio(studio_server(), model.base_url)
    studio.configure()
    model.reply(Reply([sse(chunk({"content": "Half an"}), done=False)], stays_open=True))
    page = open_page(studio.chat_url)
    ask(page, "Hello")
    expect(page.locator(".answer")).to_contain_text("Half an")
    studio.server.process.kill()
    expect(page.locator(".note")).to_contain_text("The connection dropped")
    expect(page.locator(".answer")).to_contain_text("Half an")


def test_it_asks_for_the_password_and_comes_back_after_a_reload(
    studio: Studio, model: ThreadedProviderServer, open_page: OpenPage
) -> None:
    studio.configure(access={"mode": "password", "password_env": "CHAT_PASSWORD"})
    page = open_page(studio.chat_url)
    field = page.get_by_label("Password")
    field.fill("wrong")
    page.get_by_role("button", name="Continue").click()
    expect(page.get_by_role("alert")).to_have_text("That did not match. Check it and try again.")
    expect(field).to_be_focused()
    assert "How can I help" not in page.content()
    field.fill("open sesame")
    page.keyboard.press("Enter")
    expect(page.get_by_text("How can I help you today?")).to_be_visible()
    page.reload()
    model.reply(text_reply("Welcome."))
    ask(page, "Hello")
    expect(page.locator(".answer")).to_contain_text("Welcome.")


def test_it_shows_a_redacted_answer_in_one_piece(
    studio: Studio, model: ThreadedProviderServer, open_page: OpenPage
) -> None:
    studio.configure(redaction=[{"kind": "email"}])
    model.reply(text_reply("Write to demo.user@exa", "mple.org today."))
    page = open_page(studio.chat_url)
    ask(page, "Where do I write?")
    expect(page.locator(".answer")).to_contain_text("Write to [email] today.")
    settled(page)
    assert "demo.user" not in page.content()


PAYLOADS = """<img src=x onerror=alert(1)> <iframe srcdoc="<script>alert(1)</script>"></iframe>
[x](javascript:alert(1)) [y](JaVaScRiPt&#58;alert(1)) <svg><script>alert(1)</script></svg>
[z](data:text/html,<script>alert(1)</script>) ![beacon](https://t.test/?q=secret)
[https://bank.example](https://evil.test/)"""


def test_b135_b136_nothing_that_is_said_becomes_code(
    studio: Studio, model: ThreadedProviderServer, open_page: OpenPage
) -> None:
    model.reply(text_reply(PAYLOADS))
    page = open_page(studio.chat_url)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    ask(page, PAYLOADS)
    settled(page)
    assert page.locator(".log img, .log iframe, .log script").count() == 0
    hrefs = page.locator(".log a").evaluate_all("links => links.map(link => link.href)")
    assert hrefs == ["https://t.test/?q=secret", "https://evil.test/"]
    expect(page.locator(".answer")).to_contain_text("https://bank.example (evil.test)")
    assert not [url for url in asked if "t.test" in url]


def test_b141_enter_during_a_composition_sends_nothing(studio: Studio, open_page: OpenPage) -> None:
    page = open_page(studio.chat_url)
    page.locator("#message").fill("にほん")
    for init in ("{key: 'Enter', isComposing: true}", "{key: 'Enter', keyCode: 229}"):
        page.evaluate(
            f"document.querySelector('#message').dispatchEvent(new KeyboardEvent('keydown', {init}))"
        )
    page.keyboard.press("Shift+Enter")
    expect(page.locator(".mine")).to_have_count(0)
    expect(page.locator("#message")).to_have_value("にほん\n")


def test_b133_it_works_where_storage_is_blocked(
    studio: Studio, model: ThreadedProviderServer, open_page: OpenPage
) -> None:
    page = open_page("about:blank")
    page.add_init_script(
        "Object.defineProperty(window, 'localStorage', { get() { throw new DOMException('blocked') } })"
    )
    page.goto(studio.chat_url)
    model.reply(text_reply("One."), text_reply("Two."))
    for number, text in enumerate(("One.", "Two.")):
        ask(page, "Hello")
        expect(page.locator(".answer").nth(number)).to_contain_text(text)
        settled(page)
    roles = [message["role"] for message in model.requests[1].body["messages"]]
    assert roles == ["user", "assistant", "user"]


def test_it_tells_screen_readers_once_and_never_word_by_word(
    studio: Studio, model: ThreadedProviderServer, open_page: OpenPage
) -> None:
    reply, go_on = held_reply(*(f"word{number} " for number in range(40)))
    model.reply(reply)
    page = open_page(studio.chat_url)
    page.evaluate(
        """() => { window.heard = []; for (const node of document.querySelectorAll('#announcer, #status'))
        new MutationObserver(() => node.textContent && heard.push(node.textContent))
        .observe(node, {childList: true, characterData: true, subtree: true}) }"""
    )
    ask(page, "Count")
    expect(page.locator(".answer")).to_contain_text("word39")
    log = page.get_by_role("log")
    expect(log).to_have_attribute("aria-live", "off")
    expect(log).to_have_attribute("aria-busy", "true")
    assert page.evaluate("heard") == []
    go_on.set()
    settled(page)
    page.wait_for_function("heard.length === 1")
    assert page.evaluate("heard[0]").startswith("word0 word1 ")


def test_it_stays_where_one_reads_and_offers_the_way_down(
    studio: Studio, model: ThreadedProviderServer, open_page: OpenPage
) -> None:
    go_on = threading.Event()
    long = "\n\n".join(f"Paragraph {number}." for number in range(60))
    model.reply(
        Reply(
            [sse(chunk({"content": long}), done=False), go_on, sse(chunk({"content": "\n\nLast."}, "stop"))]
        )
    )
    page = open_page(studio.chat_url)
    ask(page, "Much")
    expect(page.locator(".answer")).to_contain_text("Paragraph 59.")
    log = page.get_by_role("log")
    log.hover()
    page.mouse.wheel(0, -600)
    expect(page.get_by_role("button", name="New text")).to_be_visible()
    before = log.evaluate("log => log.scrollTop")
    go_on.set()
    settled(page)
    assert log.evaluate("log => log.scrollTop") == pytest.approx(before, abs=2)


def test_it_says_when_one_may_send_again_and_keeps_the_draft(
    studio: Studio, model: ThreadedProviderServer, open_page: OpenPage
) -> None:
    studio.configure(limits={"requests_per_minute": 1})
    model.answer(lambda request: text_reply("One."))
    page = open_page(studio.chat_url)
    notice = page.locator(".notice")
    sent = 0
    while not notice.is_visible() and sent < 5:  # a minute may end between two messages
        ask(page, "Again")
        settled(page)
        sent += 1
    expect(notice).to_contain_text("You can send again in 0:")
    expect(page.locator("#message")).to_have_value("Again")
    expect(page.locator(".mine")).to_have_count(sent - 1)


def test_it_starts_anew_and_can_go_back(
    studio: Studio, model: ThreadedProviderServer, open_page: OpenPage
) -> None:
    model.reply(text_reply("One."))
    page = open_page(studio.chat_url)
    ask(page, "First")
    settled(page)
    page.get_by_role("button", name="New conversation").click()
    expect(page.locator(".mine")).to_have_count(0)
    page.get_by_role("button", name="Go back").click()
    expect(page.locator(".mine")).to_have_count(1)


@pytest.mark.parametrize("width", [320, 390, 1440])
def test_it_never_scrolls_sideways(
    studio: Studio, model: ThreadedProviderServer, open_page: OpenPage, width: int
) -> None:
    table = "|" + "column|" * 12 + "\n" + "|" + "-|" * 12 + "\n" + "|" + "value of some length|" * 12
    code = "```python\n" + "x = 1  # " + "long " * 60 + "\n```"
    model.reply(text_reply(f"{table}\n\n{code}\n\nhttps://example.com/{'a' * 300}"))
    page = open_page(studio.chat_url, viewport={"width": width, "height": 800})
    ask(page, "x" * 300)
    settled(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.locator(".log").evaluate("log => log.scrollWidth - log.clientWidth") <= 0


@pytest.mark.parametrize(("locale", "text"), [("pt-PT", "Nova conversa"), ("es-AR", "Nueva conversación")])
def test_it_speaks_the_visitors_language(studio: Studio, open_page: OpenPage, locale: str, text: str) -> None:
    page = open_page(studio.chat_url, locale=locale)
    expect(page.get_by_role("button", name=text)).to_be_visible()


def test_it_is_one_and_the_same_page_for_what_is_not_there(studio: Studio, open_page: OpenPage) -> None:
    page = open_page(f"{studio.url}/chat/nothing")
    expect(page.get_by_role("heading", name="This chat isn't available.")).to_be_visible()


@pytest.mark.parametrize("options", [{}, {"color_scheme": "dark"}, PHONE], ids=["desktop", "dark", "phone"])
def test_axe_finds_no_serious_fault(
    studio: Studio, model: ThreadedProviderServer, open_page: OpenPage, options: dict[str, Any]
) -> None:
    studio.configure([CLOCK], include_thinking=True, include_tool_calls=True)
    thinking = sse(chunk({"reasoning_content": "Hm."}), done=False)
    call = tool_reply(("c1", "current_time", "{}")).steps[0]
    assert isinstance(call, bytes)
    model.reply(
        Reply([thinking, call]), text_reply("# Title\n\n|a|b|\n|-|-|\n|1|2|\n\n```js\nx\n```\n\n- [ ] item")
    )
    page = open_page(studio.chat_url, **options)
    assert serious_faults(page) == []
    ask(page, "What time is it?")
    settled(page)
    assert serious_faults(page) == []


def serious_faults(page: Page) -> list[str]:
    from axe_playwright_python.sync_playwright import Axe

    found = Axe().run(page).response["violations"]
    return [
        f"{fault['id']}: {node['html']}"
        for fault in found
        if fault["impact"] in ("serious", "critical")
        for node in fault["nodes"]
    ]
