import type { RecentLatencies } from '@lockstep/shared/api';
import { folderText, formatItems, isOutside } from '@lockstep/shared/present';
import { Paper } from '@mantine/core';
import { Suspense } from 'react';
import { useSearchParams } from 'wouter';
import { useAnswering, useStatus } from '../../live/status-context.ts';
import { useApi } from '../../live/use-api.ts';
import { Boundary } from '../../parts/boundary.tsx';
import { Lazy, lazyPart } from '../../parts/lazy-part.tsx';
import { Empty } from '../../parts/notice.tsx';
import { View } from '../../parts/view.tsx';
import { MemberFilter } from '../members/member-filter.tsx';
import { crowdMin, narrowed, sortedByNeed } from '../members/member-groups.ts';
import { MemberTable } from '../members/member-table.tsx';
import { AddMachine } from './add-machine.tsx';
import classes from './overview.module.css';

/** Not part of the first load: the members are shown before. */
export const tiles = lazyPart(async () => (await import('./tiles.tsx')).Tiles);

/** The interval at which the agent keeps a sample of each round trip. */
const renewMs = 10_000;

/** The table of all members. */
export function Overview() {
  const status = useStatus();
  const answering = useAnswering();
  const [parameters] = useSearchParams();
  const recent = useApi<RecentLatencies>('/latencies/recent', Math.floor(status.now / renewMs));
  const isAlone = status.members.filter(({ state }) => state !== 'left').length === 1;
  const { members } = status;
  const chosen = parameters.get('member') ?? undefined;
  const isNobody = chosen !== undefined && !members.some(({ id }) => id === chosen);
  const shown = narrowed(sortedByNeed(members), {
    part: parameters.get('name') ?? '',
    group: parameters.get('state'),
  });
  return (
    <View title="Overview" aside={`${folderText(status)} in ${status.member.folder}`}>
      {isNobody && (
        <Empty title="There is no such member">
          The address names {chosen.slice(0, 8)}, which {status.member.name} does not know: it is a member of another
          cluster, or the address is damaged.
        </Empty>
      )}
      {members.length >= crowdMin && <MemberFilter members={members} />}
      {shown.length === 0 ? (
        <Empty title="No member matches">There are {formatItems(members.length, 'member')} in total.</Empty>
      ) : (
        <Paper withBorder className={classes.members}>
          <MemberTable
            shown={shown}
            members={members}
            oldest={status.oldestMember}
            recent={recent.data}
            chosen={chosen}
          />
        </Paper>
      )}
      {!isOutside(status) && <AddMachine isAlone={isAlone} />}
      <Suspense>
        <Boundary retryOn={answering} beforeRetry={tiles.forget} fallback={() => null}>
          <Lazy part={tiles} />
        </Boundary>
      </Suspense>
    </View>
  );
}
