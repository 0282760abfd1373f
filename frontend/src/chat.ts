// The chat page: asks what it may show, then opens the conversation or the panel that leads to it.

import { choose, type Messages, sentence } from "./i18n/index.ts";
import { ChatClient, type ChatConfig, type Refusal } from "./protocol/client.ts";
import { elsewherePanel, passwordPanel } from "./ui/access.ts";
import { Conversation } from "./ui/conversation.ts";
import { button, h } from "./ui/dom.ts";
import { icon } from "./ui/icons.ts";
import { Memory } from "./ui/memory.ts";
import { mountStatus } from "./ui/status.ts";
import { applyTheme } from "./ui/theme.ts";

class ChatPage {
  readonly #root: HTMLElement;
  readonly #client: ChatClient;
  readonly #memory: Memory;
  readonly #fresh = h("div", { class: "header-actions" });
  readonly #main = h("main", { class: "page" });

  constructor(root: HTMLElement, slug: string) {
    this.#root = root;
    this.#client = new ChatClient(slug);
    this.#memory = new Memory(slug);
  }

  async start(): Promise<void> {
    const { tag, messages } = choose(navigator.languages);
    mountStatus(document.body);
    const result = await this.#client.config();
    if ("ok" in result) {
      const locale = result.ok.locale === null ? { tag, messages } : choose([result.ok.locale]);
      document.documentElement.lang = locale.tag;
      this.#frame(result.ok, locale.messages);
      this.#enter(result.ok, locale.messages, locale.tag);
      return;
    }
    const text = "offline" in result ? messages.sentences.OFFLINE : sentence(messages, result.refused.code).text;
    const again = button(messages.tryAgain, { class: "primary" }, icon("retry"));
    again.addEventListener("click", () => location.reload());
    this.#root.replaceChildren(h("main", { class: "page" }, h("div", { class: "access" }, h("p", {}, text), again)));
  }

  #frame(config: ChatConfig, words: Messages): void {
    const badge = this.#root.dataset["demo"] === undefined ? null : h("span", { class: "badge" }, words.demo);
    const title = h("h1", { dir: "auto" }, config.title);
    this.#root.replaceChildren(h("header", { class: "header" }, title, badge, this.#fresh), this.#main);
  }

  #enter(config: ChatConfig, words: Messages, tag: string): void {
    if (config.welcome === undefined) {
      this.#main.replaceChildren(this.#panel(config, words, tag));
      this.#main.querySelector("input")?.focus();
      return;
    }
    applyTheme(config.theme);
    void this.#open(config, words, tag);
  }

  #panel(config: ChatConfig, words: Messages, tag: string): HTMLElement {
    if (config.access.mode !== "password") return elsewherePanel(words);
    return passwordPanel(words, (password) => this.#unlock(password, words, tag));
  }

  async #unlock(password: string, words: Messages, tag: string): Promise<Refusal | "offline" | null> {
    const result = await this.#client.unlock(password);
    if ("offline" in result) return "offline";
    if ("refused" in result) return result.refused;
    const config = await this.#client.config();
    if (!("ok" in config)) return "offline" in config ? "offline" : config.refused;
    this.#enter(config.ok, words, tag);
    return null;
  }

  async #open(config: ChatConfig, words: Messages, tag: string): Promise<void> {
    const conversation = new Conversation({
      client: this.#client,
      config,
      memory: this.#memory,
      words,
      tag,
      locked: () => this.#lockAgain(conversation, config, words, tag),
    });
    const anew = button(words.newConversation, { class: "quiet" }, icon("new"));
    anew.addEventListener("click", () => conversation.startAnew());
    this.#fresh.replaceChildren(anew);
    const foot = h("div", { class: "foot" }, conversation.pill, conversation.notice.element, conversation.composer.element);
    this.#main.replaceChildren(conversation.log.element, foot);
    await conversation.restore();
    if (matchMedia("(pointer: fine)").matches) conversation.composer.focus();
  }

  /** What was read stays on screen and the draft in its box; only the composer gives way to the panel. */
  #lockAgain(conversation: Conversation, config: ChatConfig, words: Messages, tag: string): void {
    conversation.notice.show(words.sentences.AUTH_REQUIRED);
    if (config.access.mode !== "password") return;
    const composer = conversation.composer.element;
    const panel = passwordPanel(words, async (password) => {
      const result = await this.#client.unlock(password);
      if ("offline" in result) return "offline";
      if ("refused" in result) return result.refused;
      panel.replaceWith(composer);
      conversation.notice.clear();
      conversation.composer.focus();
      return null;
    });
    document.documentElement.lang = tag;
    composer.replaceWith(panel);
    panel.querySelector("input")?.focus();
  }
}

// Safari shrinks only the visual viewport when the keyboard is up: the layout's height follows it by hand.
function followKeyboard(): void {
  const view = window.visualViewport;
  if (!view) return;
  const fit = (): void => document.documentElement.style.setProperty("--vh", `${view.height}px`);
  view.addEventListener("resize", fit);
  view.addEventListener("scroll", fit);
}

const root = document.getElementById("chat");
const slug = root?.dataset["slug"];
if (root && slug !== undefined) {
  followKeyboard();
  void new ChatPage(root, slug).start();
}
