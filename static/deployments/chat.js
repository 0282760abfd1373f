// The plain chat page: asks what it may show, then sends messages and draws their frames. Text nodes only.

const PROTOCOL_HEADER = "X-Studio-Stream-Protocol";
const PROTOCOL = "agent-events-v1";
const DROPPED = "The connection dropped before the answer was complete.";
const OFFLINE = "You are offline. Your message is kept.";
const STATES = { running: "running", success: "done", error: "failed", cancelled: "stopped" };

const root = document.getElementById("chat");
const url = `/api/chat/${encodeURIComponent(root.dataset.slug)}`;
let conversationId = null;

function element(tag, className = "", text = "") {
  const made = document.createElement(tag);
  if (className) made.className = className;
  made.textContent = text;
  return made;
}

function post(path, body, more = {}) {
  const headers = { "Content-Type": "application/json", ...more.headers };
  return fetch(path, { method: "POST", ...more, headers, body: JSON.stringify(body) });
}

async function sentence(response) {
  try {
    return (await response.json()).error ?? "Something went wrong on our side. Try again.";
  } catch {
    return "Something went wrong on our side. Try again.";
  }
}

// --- Frames ------------------------------------------------------------------------------------------------

/** Yields the frames of a stream until its sentinel or its end. */
async function* frames(response) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let waiting = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const parts = (waiting + value).split("\n\n");
    waiting = parts.pop();
    for (const part of parts) {
      if (!part.startsWith("data: ")) continue;
      const frame = JSON.parse(part.slice("data: ".length));
      if (frame === "[DONE]") return;
      yield frame;
    }
  }
}

/** Draws one answer. Answer text is only a frame without an `event` key. */
class Answer {
  constructor() {
    this.element = element("article");
    this.ended = false;
    this.blocks = new Map();
    this.chips = new Map();
  }

  take(frame) {
    if (frame.event === undefined) this.text(frame.blockId).append(frame.chunk);
    else if (frame.event === "chunk_reset") this.text(frame.blockId).replaceChildren();
    else if (frame.event === "thinking") this.thinking().append(frame.data);
    else if (frame.event === "tool") this.tool(frame);
    else if (frame.event === "error") this.end(frame.error);
    else if (frame.event === "final") this.end(frame.data.success ? "" : frame.data.error);
  }

  text(blockId) {
    if (!this.blocks.has(blockId)) {
      const text = element("p", "answer");
      text.dir = "auto";
      this.blocks.set(blockId, text);
      this.element.append(text);
    }
    return this.blocks.get(blockId);
  }

  thinking() {
    if (!this.thoughts) {
      const details = element("details", "thinking");
      this.thoughts = element("p");
      details.open = true;
      details.append(element("summary", "", "Thinking"), this.thoughts);
      this.element.prepend(details);
    }
    return this.thoughts;
  }

  tool({ id, name, phase, status }) {
    if (!this.tools) {
      this.tools = element("div", "tools");
      this.element.prepend(this.tools);
    }
    if (phase === "start") this.chips.set(id, this.tools.appendChild(element("span", "tool")));
    const chip = this.chips.get(id);
    if (chip) this.settle(chip, name, phase === "start" ? "running" : status);
  }

  settle(chip, name, state) {
    chip.className = `tool ${state}`;
    chip.dataset.state = state;
    chip.textContent = `${name}: ${STATES[state] ?? state}`;
  }

  end(text, className = "note") {
    this.ended = true;
    if (text) this.element.append(element("p", className, text));
  }

  /** The stream is over: without a terminal it broke off, or the visitor stopped it. */
  close(stopped) {
    if (this.ended) return;
    for (const chip of this.chips.values()) {
      if (chip.dataset.state === "running") this.settle(chip, chip.textContent.split(":")[0], stopped ? "cancelled" : "error");
    }
    this.end(stopped ? "Stopped" : DROPPED, stopped ? "note stopped" : "note");
  }
}

// --- The conversation --------------------------------------------------------------------------------------

class Conversation {
  constructor(config) {
    this.log = element("main", "log");
    this.form = element("form");
    this.box = element("textarea");
    this.box.setAttribute("aria-label", "Message");
    this.button = element("button", "primary", "Send");
    this.notice = element("p", "note");
    this.notice.setAttribute("role", "status");
    this.form.append(this.box, this.button);
    this.form.addEventListener("submit", (event) => this.press(event));
    this.box.addEventListener("keydown", (event) => this.key(event));
    this.log.append(element("p", "welcome", config.welcome), this.suggestions(config.suggestions));
    root.append(this.log, this.notice, this.form);
  }

  suggestions(texts) {
    const row = element("div", "suggestions");
    for (const text of texts.slice(0, 4)) {
      const button = element("button", "", text);
      button.addEventListener("click", () => this.send(text));
      row.append(button);
    }
    return row;
  }

  key(event) {
    const composing = event.isComposing || event.keyCode === 229;
    if (event.key !== "Enter" || event.shiftKey || composing) return;
    event.preventDefault();
    if (!this.running) this.send(this.box.value);
  }

  press(event) {
    event.preventDefault();
    if (this.running) this.running.abort();
    else this.send(this.box.value);
  }

  async send(input) {
    if (this.running || !input.trim()) return;
    this.running = new AbortController();
    this.button.textContent = "Stop";
    this.notice.textContent = "";
    try {
      await this.ask(input);
    } finally {
      this.running = null;
      this.button.textContent = "Send";
      this.box.focus();
    }
  }

  async ask(input) {
    const body = conversationId === null ? { input } : { input, conversationId };
    const { signal } = this.running;
    let response;
    try {
      response = await post(url, body, { signal, headers: { [PROTOCOL_HEADER]: PROTOCOL } });
    } catch {
      if (!signal.aborted) this.notice.textContent = OFFLINE;
      return;
    }
    if (!response.ok) return this.refuse(response);
    conversationId = response.headers.get("X-Studio-Conversation") ?? conversationId;
    this.box.value = "";
    this.log.querySelector(".suggestions")?.remove();
    await this.draw(input, response, signal);
  }

  async draw(input, response, signal) {
    const answer = new Answer();
    this.log.append(element("p", "visitor", input), answer.element);
    try {
      for await (const frame of frames(response)) {
        answer.take(frame);
        this.log.scrollTop = this.log.scrollHeight;
      }
    } catch {
      // Cut off, by the network or by Stop: what came stays.
    }
    answer.close(signal.aborted);
  }

  async refuse(response) {
    this.notice.textContent = await sentence(response);
    if (response.status === 401) location.reload();
  }
}

// --- Getting in --------------------------------------------------------------------------------------------

function locked(config) {
  if (config.access.mode !== "password") {
    root.append(element("p", "", "Open this chat from the site where you are signed in."));
    return;
  }
  const form = element("form");
  const field = element("input");
  Object.assign(field, { type: "password", autocomplete: "current-password", required: true });
  field.setAttribute("aria-label", "Password");
  const notice = element("p", "note");
  notice.setAttribute("role", "alert");
  form.append(field, element("button", "primary", "Continue"));
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const response = await post(`${url}/access`, { password: field.value });
    if (response.ok) return start();
    notice.textContent = await sentence(response);
    field.select();
  });
  root.append(form, notice);
  field.focus();
}

function paint(theme) {
  const mode = matchMedia("(prefers-color-scheme: dark)").matches ? theme.dark : theme.light;
  for (const [name, color] of Object.entries(mode)) {
    const variable = name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    document.documentElement.style.setProperty(`--${variable}`, color);
  }
}

async function start() {
  const response = await fetch(url, { cache: "no-store" });
  if (!response.ok) {
    root.replaceChildren(element("p", "note", await sentence(response)));
    return;
  }
  const config = await response.json();
  root.replaceChildren(element("h1", "", config.title));
  if (config.welcome === undefined) {
    locked(config);
    return;
  }
  paint(config.theme);
  new Conversation(config);
}

start();
