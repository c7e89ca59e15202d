import { test as base } from '@playwright/test';
import { Cluster } from '../testkit/cluster.ts';
import type { StartOptions } from '../testkit/member.ts';
import { browserCookie } from './browser.ts';

export { expect } from '@playwright/test';

interface Fixtures {
  /** Names of the members to start; change it with `test.use`. */
  readonly names: readonly string[];
  /** Whether their links can be cut and slowed down: see `Cluster.link` and `Cluster.shape`. */
  readonly proxied: boolean;
  /** How their agents are started. */
  readonly start: StartOptions;
  readonly cluster: Cluster;
  /** The page's errors and warnings, and its requests to addresses outside of the agents. */
  readonly pageErrors: string[];
}

/** Playwright's `test` with a cluster of real agents. */
export const test = base.extend<Fixtures>({
  names: [['ant', 'bee', 'cat'], { option: true }],
  proxied: [false, { option: true }],
  start: [{}, { option: true }],
  cluster: async ({ names, proxied, start }, use, info) => {
    const cluster = await Cluster.start(names, { proxied, start });
    await use(cluster);
    if (info.status !== info.expectedStatus) cluster.printLogs();
    await cluster.close();
  },
  context: async ({ context, cluster }, use) => {
    for (const member of cluster.members) await context.addCookies([browserCookie(member.url, await member.logIn())]);
    await use(context);
  },
  pageErrors: async ({ page, cluster }, use) => {
    const pageErrors: string[] = [];
    page.on('console', (message) => {
      if (message.type() === 'error' || message.type() === 'warning') pageErrors.push(message.text());
    });
    page.on('pageerror', (error) => pageErrors.push(String(error)));
    page.on('request', (request) => {
      const own = cluster.members.some(({ url }) => request.url().startsWith(url));
      if (!own && !request.url().startsWith('data:')) pageErrors.push(`asked for ${request.url()}`);
    });
    await use(pageErrors);
  },
});
