// What the browser keeps of a chat: the conversation's id. Storage may be blocked; the chat then works in memory.

export class Memory {
  readonly #key: string;
  #conversation: string | null;

  constructor(slug: string) {
    this.#key = `studio:${slug}`;
    this.#conversation = this.#read();
  }

  get conversation(): string | null {
    return this.#conversation;
  }

  set conversation(id: string | null) {
    this.#conversation = id;
    try {
      if (id === null) localStorage.removeItem(this.#key);
      else localStorage.setItem(this.#key, id);
    } catch {
      // Blocked or full: this page load remembers, the next one does not.
    }
  }

  #read(): string | null {
    try {
      return localStorage.getItem(this.#key);
    } catch {
      return null;
    }
  }
}
