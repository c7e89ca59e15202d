import { useStatus } from '../live/status-context.ts';
import { Empty } from '../parts/notice.tsx';
import { View } from '../parts/view.tsx';
import { ProblemList } from './problem-list.tsx';

/** Everything on this member that needs a person, until it is gone. */
export function Problems() {
  const status = useStatus();
  return (
    <View title="Problems">
      {status.problemCount === 0 ? (
        <Empty title={`Nothing is wrong on ${status.member.name}`}>
          What needs a person is listed here, with what to do about it, until it is gone.
        </Empty>
      ) : (
        <ProblemList status={status} />
      )}
    </View>
  );
}
