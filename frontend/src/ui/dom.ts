// Nodes without HTML strings, so that Trusted Types can be on.

type Attributes = Readonly<Record<string, string | number | boolean | null | undefined>>;
type Child = Node | string | null;

/** An element with attributes (true: empty; false, null, undefined: left out) and children. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  setAttributes(element, attributes);
  element.append(...children.filter((child) => child !== null));
  return element;
}

export function setAttributes(element: Element, attributes: Attributes): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) element.removeAttribute(name);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
}

/** Writes only what differs: an untouched node keeps its selection and tells no screen reader of a change. */
export function setText(node: Element, text: string): void {
  if (node.textContent !== text) node.textContent = text;
}

/** A button with an optional icon before its word. */
export function button(label: string, attributes: Attributes = {}, icon: Node | null = null): HTMLButtonElement {
  return h("button", { type: "button", ...attributes }, icon, h("span", {}, label));
}
