import type { Locator, Page } from '@playwright/test';

/**
 * The alert that contains `text`. An agent that takes seconds to answer causes another alert, and an assertion on two elements fails
 * without a second attempt.
 */
export const alertOf = (where: Page | Locator, text: string | RegExp): Locator =>
  where.getByRole('alert').filter({ hasText: text });
