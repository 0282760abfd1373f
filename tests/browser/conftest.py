"""A real Chromium against a real server: what visitors and admins see. Console errors fail every test."""

import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, expect, sync_playwright

from tests.providers_server import ThreadedProviderServer
from tests.servers import ROOT, StudioServer, copy_data

PASSWORD = "an admin's long password"
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]

#: Generous, because the machine of a test run may be busy; nothing waits that long when all is well.
PATIENCE_MS = 15_000

#: A refusal is also an entry of the browser's console; it is no fault of the page.
EXPECTED = ("the server responded with a status of", "net::ERR_")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(item.path).is_relative_to(Path(__file__).parent):
            item.add_marker(pytest.mark.browser)
            # One worker starts one browser for all of them.
            item.add_marker(pytest.mark.xdist_group("browser"))


@pytest.fixture(scope="package")
def chromium() -> Iterator[Browser]:
    # Not for the session: while it lives, playwright's event loop counts as running in this thread, and tests
    # of other packages start loops of their own.
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if program is None:
        pytest.skip("no Chromium is installed")
    if not (ROOT / "static/dist/chat.js").exists():
        pytest.skip("the front end is not built: make frontend")
    expect.set_options(timeout=PATIENCE_MS)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="package")
def model_server() -> Iterator[ThreadedProviderServer]:
    with ThreadedProviderServer() as server:
        yield server


@pytest.fixture
def model(model_server: ThreadedProviderServer) -> ThreadedProviderServer:
    """The model server: it says what a test has it say."""
    model_server.forget()
    return model_server


@dataclass
class Studio:
    """A running Studio with one chat, `support`, whose agent asks `model`."""

    server: StudioServer
    base_url: str
    _applied: str = ""
    _has_admin: bool = False

    @property
    def url(self) -> str:
        return self.server.url

    @property
    def chat_url(self) -> str:
        return f"{self.server.url}/chat/support"

    def configure(self, tools: list[dict[str, Any]] | None = None, **chat: Any) -> None:
        """Apply the studio file with these tools of the agent and these settings of the chat."""
        agent = {"id": "agent_1", "type": "agent", "model": "local/m", "memory": "conversation"}
        document = {
            "providers": [{"name": "local", "kind": "openai-compat", "base_url": self.base_url}],
            "workflows": [
                {
                    "slug": "support",
                    "name": "Support",
                    "publish": True,
                    "blocks": [{"id": "start", "type": "start"}, {**agent, "tools": tools or []}],
                    "edges": [["start", "agent_1"]],
                }
            ],
            "chats": [
                {
                    "slug": "support",
                    "workflow": "support",
                    "title": "Support",
                    "welcome": "Hi there! How can I help you today?",
                    "suggestions": ["Where is my order?"],
                    "limits": {"requests_per_minute": 1000},
                    "redaction": [],
                    "access": {"mode": "public"},
                    "include_thinking": False,
                    "include_tool_calls": False,
                    "outputs": ["agent_1.content"],
                    **chat,
                }
            ],
        }
        text = yaml.safe_dump(document)
        if text != self._applied:
            path = self.server.data_dir / "studio.yaml"
            path.write_text(text)
            self.server.manage("apply", str(path), env={"CHAT_PASSWORD": "open sesame"})
            self._applied = text

    def forget_what_was_applied(self) -> None:
        """Somebody else changed the chat: the next `configure` applies its file whatever it was before."""
        self._applied = ""

    def make_admin(self) -> None:
        """Once; every test may ask for it."""
        if not self._has_admin:
            env = {"DJANGO_SUPERUSER_PASSWORD": PASSWORD, "DJANGO_SUPERUSER_EMAIL": "admin@example.org"}
            self.server.manage("createsuperuser", "--noinput", "--username=admin", env=env)
            self._has_admin = True


@pytest.fixture(scope="package")
def running_studio(
    migrated_data: Path, tmp_path_factory: pytest.TempPathFactory, model_server: ThreadedProviderServer
) -> Iterator[Studio]:
    """One server for all of them: visitors do not meet, and each test says how the chat is configured."""
    data_dir = tmp_path_factory.mktemp("studio")
    copy_data(migrated_data, data_dir)
    server = StudioServer("uvicorn", data_dir, {}, ())
    server.wait_ready()
    yield Studio(server, model_server.base_url)
    server.stop()


@pytest.fixture
def studio(running_studio: Studio, model: ThreadedProviderServer) -> Studio:
    running_studio.configure()
    return running_studio


OpenPage = Callable[..., Page]


@pytest.fixture
def open_page(chromium: Browser) -> Iterator[OpenPage]:
    """`open_page(url, **options of the browser context)`: a page of a new visitor."""
    contexts: list[BrowserContext] = []
    faults: list[str] = []

    def note(message: ConsoleMessage) -> None:
        if message.type in ("error", "warning") and not any(known in message.text for known in EXPECTED):
            faults.append(message.text)

    def open_one(url: str, **options: Any) -> Page:
        context = chromium.new_context(**{"reduced_motion": "reduce", "locale": "en-GB", **options})
        context.set_default_timeout(PATIENCE_MS)
        contexts.append(context)
        page = context.new_page()
        page.on("console", note)
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.goto(url)
        return page

    yield open_one
    for context in contexts:
        context.close()
    assert not faults, faults


PHONE = {"viewport": {"width": 390, "height": 844}, "is_mobile": True, "has_touch": True}


def ask(page: Page, text: str) -> None:
    page.locator("#message").fill(text)
    page.keyboard.press("Control+Enter")


def settled(page: Page) -> None:
    """Wait until nothing is on its way any more."""
    page.wait_for_selector(".log[aria-busy=false]")
