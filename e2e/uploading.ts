import type { Page } from '@playwright/test';

/** The region of the page about its uploads. */
export const uploads = (page: Page) => page.getByRole('region', { name: 'Uploads' });

/** Drops files onto an element, as from the desktop. */
export async function drop(page: Page, selector: string, files: Readonly<Record<string, string>>): Promise<void> {
  const transfer = await page.evaluateHandle((contents) => {
    const made = new DataTransfer();
    for (const [name, text] of Object.entries(contents)) made.items.add(new File([text], name));
    return made;
  }, files);
  for (const event of ['dragenter', 'dragover', 'drop']) {
    await page.locator(selector).first().dispatchEvent(event, { dataTransfer: transfer });
  }
}
