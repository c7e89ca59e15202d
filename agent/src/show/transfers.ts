import type { MemberReport, Transfer, Transfers } from '@lockstep/shared/api';

const files: readonly (readonly [path: string, size: number, bytesPerSecond: number])[] = [
  ['Photos 2026/Flight over the quay.mov', 4.2e9, 38e6],
  ['Plans/Quay wall/Section B/point cloud of the whole harbour, every station, before cleaning.e57', 18.6e9, 96e6],
  ['Budget 2027.ods', 48_213, 48_213],
];

/** What is on its way at a moment: files that begin anew whenever they have come. */
export function transfersAt(members: readonly MemberReport[], begunAt: number, at: number): Transfers {
  const others = members.filter(({ self, connected }) => !self && connected);
  const transfers = files.map(([path, size, bytesPerSecond], index): Transfer => {
    const from = others[index * 11 + 2];
    const done = Math.floor((((at - begunAt) / 1_000) * bytesPerSecond + size * 0.3) % size);
    const secondsLeft = (size - done) / bytesPerSecond;
    const source = { from: from?.id ?? null, fromName: from?.name ?? null };
    return { path, ...source, size, done, bytesPerSecond, secondsLeft, startedAt: begunAt, waitsFor: null };
  });
  transfers.push({
    path: 'Photos 2026/Opening.mov',
    from: null,
    fromName: null,
    size: 2.1e9,
    done: 812e6,
    bytesPerSecond: 0,
    secondsLeft: null,
    startedAt: begunAt,
    waitsFor: 'Only owl has this content, and it is down.',
  });
  const waiting = ['Letters/draft.md', 'Plans/Harbour.dwg', 'Plans/Harbour with the names of all berths.dwg'];
  return {
    transfers,
    pending: transfers.length + waiting.length,
    pendingPaths: waiting.map((path) => ({ path, reason: 'Only owl has this content, and it is down.' })),
    traffic: others.map(({ id, name }, index) => ({
      member: id,
      name,
      sentPerSecond: index % 7 === 3 ? 4.1e6 * index : 0,
      receivedPerSecond: transfers.find(({ from }) => from === id)?.bytesPerSecond ?? 0,
      queuedBytes: index % 7 === 3 ? 61_000 * index : 0,
    })),
    resyncs: members.flatMap(({ id, name, catchUp, pending = 0 }) => {
      const source = members.find((member) => member.id === catchUp?.source);
      if (catchUp === undefined) return [];
      const { done, total } = catchUp;
      return [{ member: id, name, source: catchUp.source, sourceName: source?.name ?? null, done, total, pending }];
    }),
  };
}
