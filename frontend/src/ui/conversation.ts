// The conversation of a visitor who is in: log, composer, and the exchange that is on its way.

import { type Messages, sentence } from "../i18n/index.ts";
import type { ChatClient, ChatConfig, Refusal, StoredMessage } from "../protocol/client.ts";
import { type Answer, EMPTY_ANSWER, type Outcome, plainText } from "../protocol/reducer.ts";
import { AnswerView, ending } from "./answer.ts";
import { Composer } from "./composer.ts";
import { button, h } from "./dom.ts";
import { Exchange } from "./exchange.ts";
import { icon } from "./icons.ts";
import { Log } from "./log.ts";
import type { Memory } from "./memory.ts";
import { Notice } from "./notice.ts";
import { Follower } from "./scroll.ts";
import { announce, say } from "./status.ts";

const SILENCE_MS = 5000;
const SILENCE_AGAIN_MS = 20_000;
const UNDO_MS = 10_000;

export interface ConversationOptions {
  readonly client: ChatClient;
  readonly config: ChatConfig;
  readonly memory: Memory;
  readonly words: Messages;
  readonly tag: string;
  /** Access was lost: the panel takes the composer's place. */
  readonly locked: () => void;
}

export class Conversation {
  readonly log: Log;
  readonly notice = new Notice();
  readonly composer: Composer;
  readonly pill: HTMLButtonElement;
  readonly #options: ConversationOptions;
  readonly #follower: Follower;
  readonly #opening = h("div", { class: "opening" });
  #exchange: Exchange | null = null;
  #newest: AnswerView | null = null;
  #silence: ReturnType<typeof setTimeout> | null = null;

  constructor(options: ConversationOptions) {
    this.#options = options;
    const { words, tag } = options;
    this.log = new Log(words, tag);
    this.composer = new Composer(words, {
      send: (text) => this.#send(text, null, null),
      stop: () => this.#exchange?.stop(),
      busy: () => this.notice.show(words.finishFirst),
    });
    this.pill = button(words.newText, { class: "pill", hidden: true }, icon("arrow-down"));
    this.pill.addEventListener("click", () => this.#follower.toEnd());
    this.#follower = new Follower(this.log.element, () => {
      this.pill.hidden = this.#follower.following || this.#exchange === null;
    });
    addEventListener("offline", () => this.notice.show(words.sentences.OFFLINE));
    addEventListener("online", () => {
      this.notice.clear();
      say(words.backOnline);
    });
    document.addEventListener("visibilitychange", () => document.hidden || this.#follower.grew());
  }

  /** Shows what the server keeps, or the welcome where there is nothing yet. */
  async restore(): Promise<void> {
    const { client, memory } = this.#options;
    const id = memory.conversation;
    const kept = id === null ? null : await client.conversation(id);
    if (kept && "ok" in kept) for (const message of kept.ok.messages) this.#showStored(message);
    else if (kept && "refused" in kept && kept.refused.status === 404) memory.conversation = null;
    if (this.log.element.childElementCount === 0) this.#showOpening();
    this.#follower.toEnd();
  }

  /** Starts anew; what was there comes back for ten seconds. */
  startAnew(): void {
    const { memory, words } = this.#options;
    this.#exchange?.stop();
    const id = memory.conversation;
    if (id === null && this.#newest === null) return;
    const nodes = this.log.clear();
    memory.conversation = null;
    this.#newest = null;
    this.#showOpening();
    this.composer.focus();
    const back = (): void => {
      this.log.restore(nodes);
      memory.conversation = id;
      this.#follower.toEnd();
    };
    this.notice.show(words.conversationCleared, { label: words.goBack, run: back });
    const shown = this.notice.element.firstElementChild;
    setTimeout(() => shown === this.notice.element.firstElementChild && this.notice.clear(), UNDO_MS);
  }

  #showOpening(): void {
    const { welcome, suggestions } = this.#options.config;
    this.#opening.replaceChildren();
    if (welcome) this.#opening.append(h("p", { class: "welcome", dir: "auto" }, welcome));
    const row = h("div", { class: "suggestions" });
    for (const text of (suggestions ?? []).slice(0, 4)) {
      const suggestion = button(text, { class: "suggestion", dir: "auto" });
      suggestion.addEventListener("click", () => {
        this.#send(text, null, null);
        this.composer.focus();
      });
      row.append(suggestion);
    }
    this.#opening.append(row);
    this.log.element.append(this.#opening);
  }

  #send(text: string, key: string | null, replaced: AnswerView | null): void {
    if (this.#exchange !== null) return;
    const now = new Date();
    this.notice.clear();
    this.#opening.remove();
    const fresh = replaced === null;
    const mine = fresh ? this.log.addMine(text, now) : null;
    const view = this.#addAnswer(text, now, () => exchange.key);
    const drop = (): void => {
      mine?.remove();
      view.turn.remove();
    };
    const exchange = new Exchange(
      {
        opened: (id) => {
          if (id !== null) this.#options.memory.conversation = id;
          this.#setNewest(view.answer);
        },
        changed: (answer) => {
          replaced?.element.closest(".turn")?.remove();
          this.#draw(view.answer, answer);
        },
        ended: (answer) => {
          replaced?.element.closest(".turn")?.remove();
          this.#ended(view.answer, answer);
        },
        refused: (why) => {
          drop();
          this.#refused(why, text, fresh);
        },
      },
      key,
    );
    if (fresh) this.composer.text = "";
    this.#begin(exchange);
    void exchange.send(this.#options.client, text, this.#options.memory.conversation);
  }

  #addAnswer(text: string, at: Date, key: () => string): { answer: AnswerView; turn: HTMLElement } {
    const { words, tag, config } = this.#options;
    const answer: AnswerView = new AnswerView({
      words,
      tag,
      // A broken connection asks for the same answer again; every other end asks for a new one.
      retry: () => this.#send(text, answer.outcome?.kind === "interrupted" ? key() : null, answer),
    });
    answer.draw(EMPTY_ANSWER);
    const turn = this.log.addAnswer(answer.element, config.title, at);
    return { answer, turn };
  }

  #setNewest(answer: AnswerView): void {
    this.#newest?.settleAsOlder();
    this.#newest = answer;
  }

  #begin(exchange: Exchange): void {
    this.#exchange = exchange;
    this.composer.setRunning(true);
    this.log.setBusy(true);
    this.#listenForSilence(SILENCE_MS);
    this.#follower.toEnd();
  }

  #draw(view: AnswerView, answer: Answer): void {
    this.#listenForSilence(SILENCE_AGAIN_MS);
    this.#follower.anchored(() => view.draw(answer));
    this.#follower.grew();
  }

  #ended(view: AnswerView, answer: Answer): void {
    this.#finish();
    this.#draw(view, answer);
    this.#stopListening();
    const { note } = ending(answer, this.#options.words);
    announce(note === "" ? plainText(answer) : note, this.#options.words.restIsBelow);
  }

  #finish(): void {
    this.#exchange = null;
    this.#stopListening();
    this.composer.setRunning(false);
    this.log.setBusy(false);
  }

  #refused(why: Refusal | "offline", text: string, fresh: boolean): void {
    const { words, memory } = this.#options;
    this.#finish();
    // What was typed meanwhile is kept too.
    if (fresh) this.composer.text = this.composer.text === "" ? text : `${text}\n${this.composer.text}`;
    if (this.log.element.childElementCount === 0) this.#showOpening();
    if (why === "offline") return this.notice.show(words.sentences.OFFLINE);
    if (why.status === 401) return this.#options.locked();
    if (why.status === 429) return this.#limited(why);
    if (why.code === "NOT_FOUND" && memory.conversation !== null) {
      const anew = { label: words.newConversation, run: () => this.startAnew() };
      return this.notice.show(words.sentences.CONVERSATION_GONE, anew);
    }
    this.notice.show(sentence(words, why.code).text);
  }

  #limited(why: Refusal): void {
    const { words } = this.#options;
    const { text } = sentence(words, why.code);
    if (why.retryAfter === null || !text.includes("{time}")) return this.notice.show(text);
    this.composer.setBlocked(text);
    this.notice.countdown(text, why.retryAfter, words, () => this.composer.setBlocked(null));
  }

  #showStored(message: StoredMessage): void {
    const at = new Date(message.created_at);
    if (message.role === "user") {
      this.log.addMine(message.content, at);
      return;
    }
    const { answer } = this.#addAnswer("", at, () => "");
    this.#setNewest(answer);
    const outcome: Outcome =
      message.status === "complete" ? { kind: "complete" }
      : message.status === "stopped" ? { kind: "stopped" }
      : { kind: "failed", code: "" };
    const blocks = message.content === "" ? [] : [{ id: message.id, text: message.content }];
    answer.draw({ ...EMPTY_ANSWER, blocks, outcome });
    answer.settleAsOlder(); // What was asked is known to the server only: one asks again by writing again.
  }

  #listenForSilence(after: number): void {
    this.#stopListening();
    this.#silence = setTimeout(() => {
      say(this.#options.words.waiting);
      this.#listenForSilence(SILENCE_AGAIN_MS);
    }, after);
  }

  #stopListening(): void {
    if (this.#silence !== null) clearTimeout(this.#silence);
    this.#silence = null;
  }
}
