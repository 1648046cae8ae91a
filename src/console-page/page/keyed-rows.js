const FOCUSABLE = 'a, button, summary, pre, input';

/**
 * Keeps the children of `parent` in step with items `{key, text, value}`: an item whose text is the same keeps its element,
 * and focus that was within a changed one is put back where it was. `render` makes the element of an item.
 */
export class KeyedRows {
  #parent;
  #render;
  #shown = new Map();

  constructor(parent, render) {
    this.#parent = parent;
    this.#render = render;
  }

  has(key) {
    return this.#shown.has(key);
  }

  /** Shows these items and no others, in this order. */
  show(items) {
    const wanted = new Set(items.map(({ key }) => key));
    for (const [key, { made }] of this.#shown) {
      if (wanted.has(key)) continue;
      made.remove();
      this.#shown.delete(key);
    }
    items.forEach((item, at) => {
      const made = this.put(item);
      if (this.#parent.children[at] !== made)
        this.#parent.insertBefore(made, this.#parent.children[at] ?? null);
    });
  }

  /** Shows one item as it is now, where it was, or at the end. Answers its element. */
  put(item) {
    const before = this.#shown.get(item.key);
    if (before?.text === item.text) return before.made;
    const made = this.#render(item);
    this.#shown.set(item.key, { text: item.text, made });
    if (before) replace(before.made, made);
    else this.#parent.append(made);
    return made;
  }
}

function replace(old, made) {
  const at = [...old.querySelectorAll(FOCUSABLE)].indexOf(document.activeElement);
  old.replaceWith(made);
  if (at >= 0) made.querySelectorAll(FOCUSABLE)[at]?.focus();
}
