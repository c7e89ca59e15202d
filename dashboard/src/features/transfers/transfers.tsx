import type { Transfers as TransferReport } from '@lockstep/shared/api';
import { changingSentence, formatItems } from '@lockstep/shared/present';
import { useStatus } from '../../live/status-context.ts';
import { useApi } from '../../live/use-api.ts';
import { Empty, Failed, Loading } from '../../parts/notice.tsx';
import { View } from '../../parts/view.tsx';
import { PathList } from './path-list.tsx';
import { ResyncList } from './resync-list.tsx';
import { TrafficTable } from './traffic-table.tsx';
import { TrafficTotals } from './traffic-totals.tsx';
import { DepartureTable, TransferTable } from './transfer-table.tsx';

/** The transfers between members, and the paths that wait, each with its reason. */
export function Transfers() {
  const status = useStatus();
  const { data, error, again } = useApi<TransferReport>('/transfers', status.now);
  const { name } = status.member;
  return (
    <View title="Transfers" aside={`Files on their way to ${name}, and the traffic between it and the others`}>
      {error !== undefined && data === undefined && <Failed error={error} again={again} />}
      {data === undefined ? error === undefined && <Loading /> : <Report report={data} />}
    </View>
  );
}

function Report({ report }: { readonly report: TransferReport }) {
  const { member, files, directories, paused } = useStatus();
  const { arriving, reused, leaving, transfers, departures, pending, pendingPaths, changing, traffic, resyncs } =
    report;
  const isMoving = arriving.left > 0 || leaving.left > 0 || departures.length > 0;
  const isQuiet = !isMoving && transfers.length === 0 && pending === 0 && changing.length === 0 && resyncs.length === 0;
  return (
    <>
      {isQuiet && (
        <Empty title={paused ? `Nothing moves: ${member.name} is paused` : 'Everything is here'}>
          {paused
            ? 'Changes by the others arrive once it is resumed.'
            : `${files === 0 ? `${member.name} knows of no file yet` : `${member.name} has all ${formatItems(files, 'file')} that it knows of`}. Arriving files are listed here with their rate and remaining time.`}
        </Empty>
      )}
      {(isMoving || reused > 0) && <TrafficTotals report={report} name={member.name} />}
      {resyncs.length > 0 && <ResyncList resyncs={resyncs} entries={files + directories} />}
      {transfers.length > 0 && <TransferTable transfers={transfers} name={member.name} />}
      {pending > transfers.length && (
        <PathList
          id="pending"
          title={`${formatItems(pending - transfers.length, 'path')} not on ${member.name} yet`}
          paths={pendingPaths}
          count={pending - transfers.length}
        />
      )}
      {changing.length > 0 && (
        <PathList
          id="changing"
          title={`${formatItems(changing.length, 'file')} changing on ${member.name}`}
          paths={changing.map((file) => ({ path: file.path, reason: changingSentence(file) }))}
        />
      )}
      {departures.length > 0 && <DepartureTable departures={departures} name={member.name} />}
      {traffic.length > 0 && <TrafficTable traffic={traffic} name={member.name} />}
    </>
  );
}
