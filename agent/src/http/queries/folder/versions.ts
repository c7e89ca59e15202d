import { dotKey, entryType, isLive, type MemberId, memberOf, type Operation } from '@lockstep/shared';
import type { PathVersion, VersionsPage, VersionsQuery } from '@lockstep/shared/api';
import type { Engine } from '../../../sync/engine.ts';
import type { SearchResult, SoughtContent } from '../../../sync/transfer/content-search.ts';
import { filesWith } from '../../../sync/transfer/local-content.ts';
import { versionsOf } from '../../../sync/versions/path-versions.ts';
import { reportLogged } from '../operations.ts';

/** The versions of a path, and which members have the content of each. */
export async function readVersions(engine: Engine, path: string, { limit }: VersionsQuery): Promise<VersionsPage> {
  const { journal, folder } = engine.context;
  const found = versionsOf(journal, path);
  const rows = found.rows.slice(0, limit);
  const sought = new Map<string, SoughtContent>();
  for (const { operation } of rows) {
    if (operation.content !== undefined)
      sought.set(operation.content, { content: operation.content, path: operation.path });
  }
  const contents = [...sought.values()];
  const kept = await folder.inHistory(contents.map(({ content }) => content));
  const result = await engine.search.search(contents);
  const [current] = journal.heads.at(path);
  const versions = rows.map((row): PathVersion => {
    const { operation } = row;
    const { content } = operation;
    const hasBytes = content !== undefined && operation.size !== 0;
    const place = content === undefined ? null : placeOf(engine, content, kept);
    const members = content === undefined ? [] : (result.holders.get(content) ?? []);
    return {
      ...reportLogged(engine, row),
      version: dotKey(operation),
      label: versionLabel(engine, operation),
      type: typeOf(operation),
      isCurrent: current !== undefined && dotKey(current) === dotKey(operation),
      place,
      members: members
        .map((member) => ({ member, name: engine.peers.nameOf(member) }))
        .sort((a, b) => a.name.localeCompare(b.name)),
      restorable: isLive(operation) && (!hasBytes || place !== null || members.length > 0),
    };
  });
  return { path, versions, more: found.more || found.rows.length > limit, silent: silentMembers(engine, result) };
}

/** The short name of a version: two of one path have the same only if a member lost its journal. */
export function versionLabel(engine: Engine, { origin, seq }: Operation): string {
  return `${engine.peers.nameOf(memberOf(origin))}:${seq}`;
}

function placeOf(
  { context }: Engine,
  content: NonNullable<Operation['content']>,
  kept: ReadonlySet<string>,
): PathVersion['place'] {
  if (filesWith(context, content).length > 0) return 'folder';
  return kept.has(content) ? 'history' : null;
}

function typeOf(operation: Operation): PathVersion['type'] {
  const type = entryType(operation);
  return type === 'member' ? 'absent' : type;
}

/** Members that were not reached, and those that did not answer. */
function silentMembers({ peers }: Engine, { silent }: SearchResult): readonly string[] {
  const isSilent = (id: MemberId): boolean => silent.includes(id);
  return peers
    .all()
    .filter((peer) => peer.state !== 'left' && (!peer.ready || isSilent(peer.id)))
    .map(({ id }) => peers.nameOf(id));
}
