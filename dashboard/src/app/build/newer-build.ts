const timeoutMs = 5_000;

/** The address of the script that a page of the dashboard begins with. The build puts a hash of all scripts into its name. */
export function mainScriptOf(page: Document): string | undefined {
  return page.querySelector('script[type="module"][src]')?.getAttribute('src') ?? undefined;
}

/**
 * The main script of the page that the agent serves now, if it is another than that of this page; null if it is the same. Undefined if that
 * cannot be known now, or the script cannot be loaded yet: while a new version is being installed, the page and the files that it names may
 * not belong together.
 */
export async function newerBuild(): Promise<string | null | undefined> {
  try {
    const answer = await fetch('/', { cache: 'no-store', signal: AbortSignal.timeout(timeoutMs) });
    if (!answer.ok) return undefined;
    const served = mainScriptOf(new DOMParser().parseFromString(await answer.text(), 'text/html'));
    if (served === undefined || served === mainScriptOf(document)) return null;
    const script = await fetch(served, { method: 'HEAD', signal: AbortSignal.timeout(timeoutMs) });
    return script.ok ? served : undefined;
  } catch {
    return undefined;
  }
}
