/** The key under which the browser's session keeps the build for which the page last reloaded. */
const key = 'lockstep-reloaded-for';

/** Elements that hold something of the reader's which a reload would take: an open dialog or menu, and chosen items. */
const held = '[role="dialog"], [role="alertdialog"], [role="menu"], main input[type="checkbox"]:checked';

/** True while a reload would interrupt the reader: during typing, with an open dialog, or with chosen items. */
export function isReaderBusy(page: Document): boolean {
  const { activeElement } = page;
  const isTyping = activeElement?.matches('input, textarea, select, [contenteditable="true"]') === true;
  return isTyping || page.querySelector(held) !== null;
}

type Memory = Pick<Storage, 'getItem' | 'setItem'>;

/**
 * True once for each build, and then never again in this session: if the reloaded page is still the old one (a proxy keeps it), another
 * reload would not help. False without a memory.
 */
export function mayReloadFor(build: string, memory: Memory | undefined): boolean {
  try {
    if (memory === undefined || memory.getItem(key) === build) return false;
    memory.setItem(key, build);
    return memory.getItem(key) === build;
  } catch {
    return false;
  }
}
