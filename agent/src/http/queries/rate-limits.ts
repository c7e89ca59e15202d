import type { Limit, Setting } from '@lockstep/shared/api';
import { formatNames, type LimitSpan, limitSentence } from '@lockstep/shared/present';
import type { RateSpan } from '../../core/traffic/rate-rules.ts';
import type { Engine } from '../../sync/engine.ts';

const directions = ['send', 'receive'] as const;

type Direction = (typeof directions)[number];

/** The limits because of which contents wait now. */
export function delayingLimits({ context: { limits } }: Engine): readonly Limit[] {
  return directions.flatMap((direction) =>
    limits[direction].delaying().map((member) => {
      const { bytesPerSecond, until } = limits[direction].spans(member)[0];
      return {
        direction,
        ...(member !== undefined && { member }),
        bytesPerSecond,
        ...(until !== undefined && { until: formatMinute(until) }),
      };
    }),
  );
}

/** The notes and the warning on a setting of limits; empty for other settings. */
export function limitNotes(engine: Engine, key: string): Pick<Setting, 'notes' | 'warning'> {
  const direction = directions.find((each) => key === `${each}_limit`);
  if (direction === undefined) return {};
  const limit = engine.context.limits[direction];
  const notes = [undefined, ...limit.names].map((member) =>
    limitSentence({ direction, member }, limit.spans(member).map(spanOf)),
  );
  const warning = warningOf(engine, direction);
  return { notes, ...(warning !== undefined && { warning }) };
}

function spanOf({ bytesPerSecond, until }: RateSpan): LimitSpan {
  return {
    ...(Number.isFinite(bytesPerSecond) && { bytesPerSecond }),
    ...(until !== undefined && { until: formatMinute(until) }),
  };
}

/** A rule may be written before its member joins: then it holds from that time on. */
function warningOf({ context: { limits, journal, self } }: Engine, direction: Direction): string | undefined {
  const others = journal.members.all().filter(({ id, membership }) => id !== self.id && membership === 'joined');
  const unknown = limits[direction].names.filter((name) => others.every((other) => other.name !== name));
  if (unknown.length === 0) return undefined;
  const names = formatNames(others.map(({ name }) => name).sort());
  return (
    `No other member is called ${formatNames(unknown, 'or')}: such a rule has no effect until one joins. ` +
    (others.length === 0 ? 'There is no other member yet.' : `The others are ${names}.`)
  );
}

/** A minute of the day as a clock shows it. */
function formatMinute(minute: number): string {
  return `${String(Math.floor(minute / 60)).padStart(2, '0')}:${String(minute % 60).padStart(2, '0')}`;
}
