import { formatItems, latencyMatrix, memberProblems, problemItemCount } from '@lockstep/shared/present';
import { Link } from 'wouter';
import { useStatus } from '../../live/status-context.ts';
import { LatencyCut } from '../../parts/latency-cut.tsx';
import { Empty } from '../../parts/notice.tsx';
import { View } from '../../parts/view.tsx';
import { nothingListed } from './nothing-listed.ts';
import { OtherMembers } from './other-members.tsx';
import { ProblemList } from './problem-list.tsx';

/** Everything that needs attention, until it is resolved. */
export function Problems() {
  const status = useStatus();
  const others = memberProblems(status);
  const nothing = nothingListed(status);
  return (
    <View title="Problems" aside="Everything that needs attention, with what to do about it, until it is resolved">
      {problemItemCount(status) === 0 && (
        <Empty title={nothing.title}>
          {nothing.text}{' '}
          {status.conflictCopies > 0 && (
            <>
              <Link href="/conflicts">
                {formatItems(status.conflictCopies, 'conflict')} {status.conflictCopies === 1 ? 'waits' : 'wait'} for a
                choice
              </Link>
              .{' '}
            </>
          )}
          Anything that needs your attention is listed here.
        </Empty>
      )}
      {status.problemCount > 0 && <ProblemList status={status} />}
      <LatencyCut matrix={latencyMatrix(status)} />
      {others.length > 0 && <OtherMembers problems={others} />}
    </View>
  );
}
