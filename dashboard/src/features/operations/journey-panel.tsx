import type { Journey, JourneyStop } from '@lockstep/shared/api';
import { authorOf, formatBytes, formatElapsed } from '@lockstep/shared/present';
import { Anchor, Drawer, Group, Stack, Text } from '@mantine/core';
import { IconCircleCheck, IconClockHour4 } from '@tabler/icons-react';
import { useRef } from 'react';
import { Link } from 'wouter';
import { useStatus } from '../../live/status-context.ts';
import { useApi } from '../../live/use-api.ts';
import { conflictLink, pathLink } from '../../parts/links.ts';
import { Moment } from '../../parts/moment.tsx';
import { Empty, Failed, Loading } from '../../parts/notice.tsx';
import { actOf, acts } from '../../parts/operations/operation-filter.ts';
import { StateMark } from '../../parts/state-mark.tsx';
import { exactTime } from '../../parts/time-formats.ts';
import classes from './journey-panel.module.css';
import { type JourneyStep, longestOf, placeOnLine, stepsOf } from './journey-steps.ts';
import { journeyTrigger } from './journey-trigger.ts';

/** A modification time further before the journaling than this was copied with the file. */
const writtenMsMax = 60_000;
const operationForm = /^[^:]+:[1-9]\d*$/;

/** The journey of the chosen operation (`origin:seq`) to each member. */
export function JourneyPanel({ chosen, close }: { readonly chosen: string | undefined; readonly close: () => void }) {
  return (
    <Drawer
      opened={chosen !== undefined}
      onClose={close}
      position="right"
      size="lg"
      title="The journey of an operation"
      withOverlay={false}
      lockScroll={false}
      closeButtonProps={{ 'aria-label': 'Close' }}
      classNames={{ content: classes.panel, title: classes.title }}
    >
      {chosen !== undefined &&
        (operationForm.test(chosen) ? (
          <Way key={chosen} chosen={chosen} />
        ) : (
          <Empty title="There is no such operation">The address is damaged: an operation is ORIGIN:NUMBER.</Empty>
        ))}
    </Drawer>
  );
}

function Way({ chosen }: { readonly chosen: string }) {
  const status = useStatus();
  const known = useRef<Journey>(undefined);
  const [origin = '', seq = ''] = chosen.split(':');
  const { data, error, again } = useApi<Journey>(
    `/ops/${encodeURIComponent(origin)}/${encodeURIComponent(seq)}`,
    journeyTrigger(status, { origin, seq: Number(seq) }, known.current),
  );
  known.current = data;
  if (data === undefined) return error === undefined ? <Loading rows={5} /> : <Failed error={error} again={again} />;
  const { operation, writtenAt, madeAt, holding, members } = data;
  const { path, from, memberName, size } = operation;
  const longestMs = longestOf(data);
  const isWhole = holding === members;
  const Sign = isWhole ? IconCircleCheck : IconClockHour4;
  return (
    <Stack gap="lg">
      <div>
        <Text c="dimmed">
          {acts[actOf(operation)]}
          {operation.conflict && ': version written'} by {authorOf(operation).memberName}
          {size !== undefined && `, ${formatBytes(size)}`}
        </Text>
        <Text size="lg" fw={600} className={classes.path}>
          {operation.kind === 'member' ? (
            path
          ) : (
            <Anchor component={Link} href={pathLink(path)} inherit>
              {path}
            </Anchor>
          )}
        </Text>
        {from !== undefined && (
          <Text c="dimmed" className={classes.path}>
            renamed from {from}
          </Text>
        )}
        {operation.settles !== undefined && (
          <Anchor component={Link} href={conflictLink(operation.settles)}>
            The conflict that this settled
          </Anchor>
        )}
      </div>
      <Group gap="xs" wrap="nowrap" className={classes.holding} data-whole={isWhole}>
        <Sign size={22} aria-hidden="true" />
        <Text fw={600}>
          {isWhole && members > 1 ? `Durable on all ${members} members` : `Durable on ${holding} of ${members} members`}
        </Text>
      </Group>
      <dl className={classes.begin}>
        {writtenAt !== null && (
          <div>
            <dt>Written</dt>
            <dd>
              {madeAt - writtenAt >= 0 && madeAt - writtenAt < writtenMsMax
                ? `${formatElapsed(madeAt - writtenAt)} before it was journaled`
                : exactTime.format(writtenAt)}
            </dd>
          </div>
        )}
        <div>
          <dt>Journaled by {memberName}</dt>
          <dd>
            <time dateTime={new Date(madeAt).toISOString()}>{exactTime.format(madeAt)}</time> (<Moment at={madeAt} />)
          </dd>
        </div>
      </dl>
      <ol className={classes.stops}>
        {data.stops.map((stop) => (
          <Stop key={stop.member} stop={stop} steps={stepsOf(data, stop)} longestMs={longestMs} />
        ))}
      </ol>
      <Text size="sm" c="dimmed">
        Times run from its journaling until this member learned of each step. The scale is logarithmic.
      </Text>
    </Stack>
  );
}

function Stop({
  stop,
  steps,
  longestMs,
}: {
  readonly stop: JourneyStop;
  readonly steps: readonly JourneyStep[];
  readonly longestMs: number;
}) {
  const reached = Math.max(0, ...steps.map(({ sinceMs }) => sinceMs ?? 0));
  return (
    <li className={classes.stop}>
      <Group justify="space-between" gap="sm" wrap="nowrap">
        <Text fw={600} className={classes.path}>
          {stop.name}
        </Text>
        {stop.condition !== 'active' && <StateMark condition={stop.condition} />}
      </Group>
      <div className={classes.line} aria-hidden="true">
        <span className={classes.reached} style={{ width: percent(placeOnLine(reached, longestMs)) }} />
        {steps.map(
          ({ name, sinceMs }) =>
            sinceMs !== undefined && (
              <span
                key={name}
                className={classes.mark}
                data-step={name}
                style={{ left: percent(placeOnLine(sinceMs, longestMs)) }}
              />
            ),
        )}
      </div>
      <dl className={classes.steps}>
        {steps.map((step) => (
          <div key={step.name} data-step={step.name} data-state={step.state}>
            <dt>{step.name}</dt>
            <dd title={step.at === undefined ? undefined : exactTime.format(step.at)}>{said(step)}</dd>
          </div>
        ))}
      </dl>
    </li>
  );
}

function said({ state, sinceMs = 0 }: JourneyStep): string {
  if (state === 'open') return 'not yet';
  if (state === 'unknown') return 'yes';
  return formatElapsed(sinceMs);
}

function percent(part: number): string {
  return `${Math.round(part * 1_000) / 10}%`;
}
