import type { Operation, OriginId, PeerMessage } from '@lockstep/shared';
import { expect, test } from 'vitest';
import { contentOfText } from '../../sim/disk/content.ts';
import { LoneMember } from '../../sim/lone-member.ts';
import { WriteBack } from '../durability/write-back.ts';
import { LocalChanges } from '../local/local-changes.ts';
import type { ActionRequest, Folder } from '../ports/folder.ts';
import type { Link } from '../ports/network.ts';
import { ContentServer } from '../transfer/content-server.ts';
import { Retention } from '../versions/retention.ts';
import { ApplyLoop } from './apply-loop.ts';
import { RenameGate } from './rename-gate.ts';

const quiet = (): void => undefined;
const bee = 'bee' as OriginId;

/** A folder whose disk cannot hold `path`, because its name is too long. */
function cannotShow(path: string): (folder: Folder) => Folder {
  const isRefused = ({ action }: ActionRequest): boolean => ('path' in action ? action.path : action.to) === path;
  return (folder) =>
    new Proxy(folder, {
      get(target, name) {
        if (name !== 'apply') {
          const value: unknown = Reflect.get(target, name, target);
          return typeof value === 'function' ? value.bind(target) : value;
        }
        return async (requests: readonly ActionRequest[]) => {
          const results = (await target.apply(requests.filter((request) => !isRefused(request)))).values();
          const refusal = { result: 'problem', code: 'path-too-long', detail: 'The name is too long.' } as const;
          return requests.map((request) => (isRefused(request) ? refusal : results.next().value));
        };
      },
    });
}

/** The member's answer to a request for the content of `text`. */
async function answerTo(member: LoneMember, text: string): Promise<PeerMessage | undefined> {
  const answers: PeerMessage[] = [];
  const link = { send: (message: PeerMessage) => answers.push(message), queuedBytes: () => 0 } as Partial<Link> as Link;
  new ContentServer(member.context, link, { sent: quiet, limited: () => undefined, isStaged: () => false }).want({
    type: 'want',
    path: 'file',
    id: 1,
    content: contentOfText(text).id,
    index: 0,
  });
  await member.passes(1_000);
  return answers[0];
}

test.each([
  ['is ignored here', (member: LoneMember) => member.context.ignored.take('new-name')],
  ['cannot be shown here', quiet],
])(
  '[CT4] if the new name of a renamed file %s, the content outlives the old name and is served to others',
  async (_, prepare) => {
    const member = new LoneMember(cannotShow('new-name'));
    prepare(member);
    const { context, journal, volume } = member;
    volume.disk.write('old-name', contentOfText('text'));
    const changes = new LocalChanges(context, member.operationWriter);
    const started = changes.start();
    await member.passes(10_000);
    await started;
    const parents = journal.heads.at('old-name');
    const put = member.operation('new-name', { kind: 'put', text: 'text' }, { origin: bee });
    const renamed: Operation = { ...put, from: 'old-name', group: put.seq, span: 2 };
    const gone = member.operation('old-name', { kind: 'delete', replaced: 'text' }, { origin: bee, parents });
    member.received(renamed, { ...gone, group: put.seq });
    const gate = new RenameGate(journal, context.clock, () => []);
    // A file that may change without an event is not replaced before a sync.
    new WriteBack(context).poke();
    const applyLoop = new ApplyLoop(context, member.transfers, gate);
    applyLoop.poke();
    await member.passes(10_000);
    expect([volume.disk.at('old-name'), volume.disk.at('new-name')]).toEqual([undefined, undefined]);
    new Retention(context, { size: { bytes: 0 }, filesMax: 0, ageMsMax: 0 }, () => false).start();
    await member.passes(200_000);
    expect(await answerTo(member, 'text')).toMatchObject({ type: 'block', bytes: contentOfText('text').parts[0] });
    // Once the name can be applied, the content needs no other member.
    expect([...volume.history.keys()]).toEqual([contentOfText('text').id]);
    expect(member.errors).toEqual([]);
  },
);
