import { latencyMatrix, memberTroubles, troubleCount } from '@lockstep/shared/present';
import { useStatus } from '../../live/status-context.ts';
import { LatencyCut } from '../../parts/latency-cut.tsx';
import { Empty } from '../../parts/notice.tsx';
import { View } from '../../parts/view.tsx';
import { OtherMembers } from './other-members.tsx';
import { ProblemList } from './problem-list.tsx';

/** Everything that needs a person, until it is gone. */
export function Problems() {
  const status = useStatus();
  const others = memberTroubles(status);
  return (
    <View title="Problems" aside="Everything that needs a person, with what to do about it, until it is gone">
      {troubleCount(status) === 0 && (
        <Empty title="Nothing needs you">
          {status.member.name} has no problem, no other member is down or tells of one, and no two are cut off from each
          other. What needs a person is listed here.
        </Empty>
      )}
      {status.problemCount > 0 && <ProblemList status={status} />}
      <LatencyCut matrix={latencyMatrix(status)} />
      {others.length > 0 && <OtherMembers troubles={others} />}
    </View>
  );
}
