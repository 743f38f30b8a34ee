// The few things that this page needs of the document.

export function byId<T extends HTMLElement = HTMLElement>(id: string): T {
  const found = document.getElementById(id);
  if (!found) throw new Error(`no element ${id}`);
  return found as T;
}

type Props = Record<string, string | number | boolean | ((e: Event) => void)>;
export function make(tag: string, props: Props = {}, ...children: (string | Node)[]): HTMLElement {
  const out = document.createElement(tag);
  for (const [key, value] of Object.entries(props)) {
    if (typeof value === "function") out.addEventListener(key, value);
    else if (key === "class") out.className = String(value);
    else if (typeof value === "boolean") out.toggleAttribute(key, value);
    else out.setAttribute(key, String(value));
  }
  out.append(...children);
  return out;
}

/** Buttons of which one is chosen. */
export function segmented<T extends string>(box: HTMLElement, names: readonly T[], chosen: T, onChoose: (name: T) => void): (name: T) => void {
  const buttons = names.map((name) => make("button", { role: "radio", "data-name": name, click: () => { mark(name); onChoose(name); } }, name));
  const mark = (name: T) => buttons.forEach((b) => b.setAttribute("aria-checked", String(b.dataset.name === name)));
  box.replaceChildren(...buttons);
  mark(chosen);
  return mark;
}
