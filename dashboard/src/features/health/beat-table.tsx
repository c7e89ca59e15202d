import type { Beat, Beats } from '@lockstep/shared/api';
import { beatMarks, beatText, markOf, uptimeText } from '@lockstep/shared/present';
import { Paper, Text } from '@mantine/core';
import { Fragment, memo } from 'react';
import { Link } from 'wouter';
import { useStatus } from '../../live/status-context.ts';
import { memberLink } from '../../parts/links.ts';
import { minuteTime } from '../../parts/time-formats.ts';
import classes from './beat-table.module.css';

/** A strip of beats for each member, with its sum in words. */
export function BeatTable({
  beats: { from, everyMs, members },
  words,
}: {
  readonly beats: Beats;
  readonly words: string;
}) {
  const status = useStatus();
  const nameOf = (id: string): string => status.members.find((member) => member.id === id)?.name ?? id.slice(0, 8);
  return (
    <Paper withBorder component="section" aria-label={`Members over ${words}`} className={classes.section}>
      <ul className={classes.list}>
        {members.map(({ member, beats }) => (
          <li key={member} className={classes.row}>
            <Link href={memberLink(member)} className={classes.name}>
              {nameOf(member)}
            </Link>
            <Strip name={nameOf(member)} words={words} beats={beats} from={from} everyMs={everyMs} />
            <Text component="span" size="sm" className={classes.sum}>
              {uptimeText(beats)
                .split(', ')
                .map((part, index) => (
                  <Fragment key={part}>
                    {index > 0 && ', '}
                    <span>{part}</span>
                  </Fragment>
                ))}
            </Text>
          </li>
        ))}
      </ul>
      <p className={classes.legend}>
        {beatMarks.map(([mark, text]) => (
          <span key={mark}>
            <span className={classes.beat} data-mark={mark} aria-hidden="true" />
            {mark === 'unknown' ? `${text}: the agent of ${status.member.name} did not run` : text}
          </span>
        ))}
      </p>
    </Paper>
  );
}

interface StripProps {
  readonly name: string;
  readonly words: string;
  readonly beats: readonly Beat[];
  readonly from: number;
  readonly everyMs: number;
}

const Strip = memo(function Strip({ name, words, beats, from, everyMs }: StripProps) {
  return (
    <span className={classes.strip} role="img" aria-label={`${name} over ${words}: ${uptimeText(beats)}`}>
      {beats.map((beat, index) => {
        const at = from + index * everyMs;
        return (
          <span
            key={at}
            className={classes.beat}
            data-mark={markOf(beat)}
            title={`${minuteTime.format(at)}: ${beatText(beat)}`}
          />
        );
      })}
    </span>
  );
}, isSameStrip);

/** The answer is a new object every time, and few of its beats have changed. */
function isSameStrip(before: StripProps, after: StripProps): boolean {
  return (
    before.from === after.from &&
    before.everyMs === after.everyMs &&
    before.name === after.name &&
    JSON.stringify(before.beats) === JSON.stringify(after.beats)
  );
}
