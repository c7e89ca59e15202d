import type { Departure, Transfer } from '@lockstep/shared/api';
import { formatItems } from '@lockstep/shared/present';
import { Paper, Title } from '@mantine/core';
import { FileRow } from './file-row.tsx';
import classes from './transfers.module.css';

/** The files whose content is on its way here, those that arrive next at the top. */
export function TransferTable({ transfers, name }: { readonly transfers: readonly Transfer[]; readonly name: string }) {
  return (
    <Paper withBorder component="section" aria-labelledby="arriving">
      <Title order={2} size="h4" id="arriving" className={classes.title}>
        {formatItems(transfers.length, 'file')} on the way to {name}
      </Title>
      <ul className={classes.list}>
        {transfers.map(({ sources, waitsFor, ...transfer }) => (
          <FileRow key={transfer.path} {...transfer} word="from" ends={sources} reason={waitsFor} />
        ))}
      </ul>
    </Paper>
  );
}

/** The files that leave here, those that are sent completely next at the top. */
export function DepartureTable({
  departures,
  name,
}: {
  readonly departures: readonly Departure[];
  readonly name: string;
}) {
  return (
    <Paper withBorder component="section" aria-labelledby="departing">
      <Title order={2} size="h4" id="departing" className={classes.title}>
        {formatItems(departures.length, 'file')} on the way from {name}
      </Title>
      <ul className={classes.list}>
        {departures.map(({ path, to, toName, size, sent, bytesPerSecond }) => (
          <FileRow
            key={`${to} ${path}`}
            path={path}
            size={size}
            done={sent}
            bytesPerSecond={bytesPerSecond}
            secondsLeft={null}
            reused={0}
            word="to"
            ends={[{ member: to, name: toName, bytesPerSecond }]}
            reason={null}
          />
        ))}
      </ul>
    </Paper>
  );
}
