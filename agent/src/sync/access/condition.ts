import { dotKey, type Operation } from '@lockstep/shared';

/**
 * The state of a path that a person expects, and that must hold before the entry is changed. `none`: no expectation; `absent`: nothing is
 * there; `any`: any entry is there; `versions`: one of these (`dotKey`) is there.
 */
export type Condition =
  | { readonly is: 'none' }
  | { readonly is: 'absent' }
  | { readonly is: 'any' }
  | { readonly is: 'versions'; readonly versions: ReadonlySet<string> };

/** The reason for a refusal, for the status of the answer. */
export type RefusalCode =
  /** The entry is another one than the person knows. */
  | 'version-mismatch'
  /** The request would replace or remove an entry, and names no version. */
  | 'version-required'
  | 'no-entry'
  /** The bytes to be replaced are not in the file, nor directly after its end. */
  | 'range-invalid'
  | 'content-unavailable'
  | 'disk-full'
  | 'not-written';

/** Nothing was done. */
export interface Refused {
  readonly done: false;
  readonly code: RefusalCode;
  /** A sentence on the reason and the action to take. */
  readonly reason: string;
  /** The entry that is there, if the request asked for another one. */
  readonly current?: Operation | undefined;
  /** The entry changed, and its change is not journaled yet: the answer may differ after that. */
  readonly isUnjournaled?: boolean;
}

/** Makes a refusal. */
export function refused(code: RefusalCode, reason: string, current?: Operation): Refused {
  return { done: false, code, reason, current };
}

/** The reason not to change the entry `current` at `path`; undefined if the person knows it. */
export function conditionRefusal(
  condition: Condition,
  path: string,
  current: Operation | undefined,
): Refused | undefined {
  if (current === undefined) {
    if (condition.is === 'none' || condition.is === 'absent') return undefined;
    return refused('version-mismatch', `There is nothing at ${path} any more: it was deleted or renamed.`);
  }
  const version = dotKey(current);
  switch (condition.is) {
    case 'any':
      return undefined;
    case 'none':
      return refused(
        'version-required',
        `${path} is there already: name the version that you mean, in the header If-Match.`,
        current,
      );
    case 'absent':
      return refused('version-mismatch', `${path} is there already, and was left as it is.`, current);
    case 'versions':
      if (condition.versions.has(version)) return undefined;
      return refused(
        'version-mismatch',
        `${path} has changed since it was shown, and was left as it is: look at it again.`,
        current,
      );
  }
}
