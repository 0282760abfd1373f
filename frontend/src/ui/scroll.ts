// The log follows its end only while the person is there. Only input changes that, never our own scrolling.

const NEAR_PX = 64;

export class Follower {
  following = true;
  readonly #log: HTMLElement;
  readonly #changed: () => void;

  constructor(log: HTMLElement, changed: () => void) {
    this.#log = log;
    this.#changed = changed;
    const moved = (): void => this.#look();
    for (const type of ["wheel", "touchmove", "keyup", "pointerup"]) {
      log.addEventListener(type, () => requestAnimationFrame(moved), { passive: true });
    }
    log.addEventListener("wheel", (event) => event.deltaY < 0 && this.#set(false), { passive: true });
    log.addEventListener("touchmove", () => this.#set(this.#nearEnd()), { passive: true });
    log.addEventListener("focusin", (event) => event.target !== log && this.#set(this.#nearEnd()));
    document.addEventListener("selectionchange", () => {
      const selection = document.getSelection();
      if (selection && !selection.isCollapsed && log.contains(selection.anchorNode)) this.#set(false);
    });
    log.addEventListener("scroll", () => this.#nearEnd() && this.#set(true), { passive: true });
  }

  /** Call after the log's content changed: jumps to the end if the person is there. */
  grew(): void {
    if (this.following) this.#log.scrollTop = this.#log.scrollHeight;
    this.#changed();
  }

  toEnd(): void {
    this.#set(true);
    this.grew();
  }

  /** Makes a change above the view without moving what is being read. */
  anchored(change: () => void): void {
    const seen = this.following ? null : firstVisible(this.#log);
    const before = seen?.getBoundingClientRect().top ?? 0;
    change();
    if (seen) this.#log.scrollTop += seen.getBoundingClientRect().top - before;
  }

  #look(): void {
    if (!this.#nearEnd()) this.#set(false);
  }

  #nearEnd(): boolean {
    return this.#log.scrollHeight - this.#log.scrollTop - this.#log.clientHeight <= NEAR_PX;
  }

  #set(following: boolean): void {
    if (this.following === following) return;
    this.following = following;
    this.#changed();
  }
}

function firstVisible(log: HTMLElement): Element | null {
  const top = log.getBoundingClientRect().top;
  return [...log.querySelectorAll(".turn > *")].find((node) => node.getBoundingClientRect().bottom > top) ?? null;
}
