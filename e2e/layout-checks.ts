import type { Page } from '@playwright/test';

/** The elements beyond the sides of the screen that no scrolling box contains, without the closed menu. */
export async function cutOff(page: Page): Promise<readonly string[]> {
  return page.evaluate(() => {
    const width = document.documentElement.clientWidth;
    const scrolls = (element: Element | null): boolean =>
      element !== null && (/auto|scroll/.test(getComputedStyle(element).overflowX) || scrolls(element.parentElement));
    return [...document.querySelectorAll('header *, main *')]
      .filter((element) => {
        const box = element.getBoundingClientRect();
        const isSeen = box.width > 0 && box.height > 0 && element.checkVisibility({ visibilityProperty: true });
        return isSeen && (box.left < -1 || box.right > width + 1) && !scrolls(element.parentElement);
      })
      .map((element) => element.outerHTML.slice(0, 200));
  });
}

/**
 * The texts that a person cannot read: names of which less than `nameWidthMin` pixels are visible though they are longer, and texts that
 * overlap another text. Texts that the page hides on purpose, or that a scrolling box hides, do not count.
 */
export async function unreadable(page: Page, nameWidthMin: number): Promise<readonly string[]> {
  return page.evaluate((nameMin) => {
    /** Differences of rounding, and the overlap of the line boxes of large type. */
    const tolerance = 3;
    interface Area {
      left: number;
      right: number;
      top: number;
      bottom: number;
    }
    const cut = (one: Area, other: Area): Area => ({
      left: Math.max(one.left, other.left),
      right: Math.min(one.right, other.right),
      top: Math.max(one.top, other.top),
      bottom: Math.min(one.bottom, other.bottom),
    });
    const isArea = (area: Area, min = 0) => area.right - area.left > min && area.bottom - area.top > min;
    /** The part of an area that the boxes around `element` do not clip. */
    const visible = (area: Area, element: Element | null): Area => {
      if (element === null) return area;
      const { overflowX, clipPath } = getComputedStyle(element);
      if (clipPath !== 'none') return { ...area, right: area.left };
      const clips = overflowX !== 'visible' && !/^(HTML|BODY)$/.test(element.tagName);
      return visible(clips ? cut(area, element.getBoundingClientRect()) : area, element.parentElement);
    };
    const textNodes = (root: Element): Text[] => {
      const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
      const found: Text[] = [];
      while (walker.nextNode()) {
        const node = walker.currentNode as Text;
        const isShown = node.parentElement?.checkVisibility({ visibilityProperty: true, opacityProperty: true });
        if (node.data.trim() !== '' && isShown) found.push(node);
      }
      return found;
    };
    const areasOf = (node: Text): Area[] => {
      const range = document.createRange();
      range.selectNodeContents(node);
      return [...range.getClientRects()].map((box) => visible(box, node.parentElement)).filter((area) => isArea(area));
    };

    const told: string[] = [];
    for (const main of document.querySelectorAll('header, main')) {
      const texts = textNodes(main).map((node) => ({ node, areas: areasOf(node) }));
      for (const [index, one] of texts.entries()) {
        for (const other of texts.slice(index + 1)) {
          const overlap = one.areas.some((a) => other.areas.some((b) => isArea(cut(a, b), tolerance)));
          if (overlap) told.push(`“${one.node.data}” overlaps “${other.node.data}”`);
        }
      }
    }
    const names = 'main [class*="_name_"], main [data-row], main th[scope="row"] a, main th[scope="row"] span[title]';
    for (const name of document.querySelectorAll(names)) {
      for (const node of textNodes(name)) {
        const range = document.createRange();
        range.selectNodeContents(node);
        const whole = range.getBoundingClientRect();
        const seen = areasOf(node).reduce((widest, { left, right }) => Math.max(widest, right - left), 0);
        const isInSight = whole.bottom > 0 && visible(whole, node.parentElement).bottom > whole.top;
        if (isInSight && seen < Math.min(whole.width, nameMin) - 1) told.push(`“${node.data}” has ${seen} px`);
      }
    }
    return told;
  }, nameWidthMin);
}
