import { dotKey, isLive, type Operation } from '@lockstep/shared';
import { stampMs } from '../hlc.ts';
import { isSameContent } from '../merge.ts';

/** The version that a person asks for: of a time, by its name, or the one before the current one. */
export type VersionChoice =
  | { readonly kind: 'at'; readonly atMs: number }
  | { readonly kind: 'named'; readonly version: string }
  | { readonly kind: 'previous' };

/** `reason`: a sentence that says why there is none, and what to do. */
export type ChosenVersion = { readonly operation: Operation } | { readonly reason: string };

/** The versions of one path. */
export interface PathVersions {
  readonly path: string;
  /** Newest first. */
  readonly versions: readonly Operation[];
  /** The visible head. */
  readonly current: Operation | undefined;
  /** The short name of a version. */
  readonly labelOf: (operation: Operation) => string;
}

/** Chooses a version to put back. */
export function chooseVersion(known: PathVersions, choice: VersionChoice): ChosenVersion {
  const { path, versions } = known;
  if (versions.length === 0) return { reason: `No version of ${path} is known here: check the path.` };
  switch (choice.kind) {
    case 'named':
      return named(known, choice.version);
    case 'at':
      return at(known, choice.atMs);
    case 'previous':
      return previous(known);
  }
}

function named({ path, versions, labelOf }: PathVersions, version: string): ChosenVersion {
  const found = versions.filter((each) => dotKey(each) === version || labelOf(each) === version);
  const [operation] = found;
  if (operation === undefined) return { reason: `${path} has no version ${version}: lockstep history lists them.` };
  if (found.length > 1) {
    const names = found.map(dotKey).join(' and ');
    return { reason: `${path} has several versions ${version}. Name one of them in full: ${names}.` };
  }
  if (isLive(operation)) return { operation };
  return { reason: `Version ${version} deleted ${path}. To delete it again, delete the file.` };
}

function at({ path, versions }: PathVersions, atMs: number): ChosenVersion {
  const operation = versions.find(({ hlc }) => stampMs(hlc) <= atMs);
  const time = new Date(atMs).toISOString();
  if (operation === undefined) {
    const oldest = new Date(stampMs(versions.at(-1)?.hlc ?? 0)).toISOString();
    return { reason: `${path} was not known at ${time}: its oldest version here is of ${oldest}.` };
  }
  if (isLive(operation)) return { operation };
  return { reason: `${path} did not exist at ${time}: it was deleted before. Name an earlier time.` };
}

function previous({ path, versions, current }: PathVersions): ChosenVersion {
  const operation = versions.find((each) => isLive(each) && (current === undefined || !isSameContent(each, current)));
  return operation === undefined ? { reason: `${path} has only one version: there is none before it.` } : { operation };
}
