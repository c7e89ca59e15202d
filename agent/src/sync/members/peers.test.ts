import { type HelloMessage, type MemberId, memberPath, suspectAfterMs } from '@lockstep/shared';
import { expect, test } from 'vitest';
import { LoneMember } from '../../sim/lone-member.ts';
import type { Link, LinkReceiver } from '../ports/network.ts';
import { Peers } from './peers.ts';

const bee = 'b'.repeat(52) as MemberId;

/** A session that the other side opened, and ends by `end`, without a hello. */
function openSession(): { readonly link: Link; readonly end: () => void } {
  let receiver: LinkReceiver | undefined;
  const link: Partial<Link> = {
    peer: bee,
    dialled: false,
    remote: 'test',
    start: (given) => {
      receiver = given;
    },
    send: () => undefined,
    receivedBytes: () => 0,
  };
  return { link: link as Link, end: () => receiver?.closed('the connection was lost', false) };
}

function peersOf({ context }: LoneMember): Peers {
  const ignored = (): void => undefined;
  return new Peers(context, { message: ignored, closed: ignored, helloMessage: () => ({}) as HelloMessage });
}

async function sizeAfterSession(lone: LoneMember): Promise<readonly number[]> {
  const peers = peersOf(lone);
  const { link, end } = openSession();
  peers.accept(link);
  end();
  peers.refreshStates();
  const atOnce = peers.size;
  await lone.passes(suspectAfterMs(2));
  peers.refreshStates();
  return [atOnce, peers.size];
}

test('[MB4] a peer that ends its session before it joins, as a probe does, is no member after some seconds', async () => {
  expect(await sizeAfterSession(new LoneMember())).toEqual([2, 1]);
});

test('[MB4] a member of the list stays one when its session ends', async () => {
  const lone = new LoneMember();
  const member = { id: bee, name: 'bee', addresses: [], membership: 'joined' } as const;
  lone.received({ ...lone.operation(memberPath(bee), { kind: 'member' }), member });
  expect(await sizeAfterSession(lone)).toEqual([2, 2]);
});
