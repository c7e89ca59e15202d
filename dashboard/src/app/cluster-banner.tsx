import { clusterVerdict, type Subject, staleViewReason, type VerdictPart } from '@lockstep/shared/present';
import { Text } from '@mantine/core';
import { IconAlertTriangle, IconCircleCheck, IconClock, IconHandStop, IconRefresh } from '@tabler/icons-react';
import { Fragment } from 'react';
import { Link } from 'wouter';
import { useStatus } from '../live/status-context.ts';
import { memberLink, pairLink } from '../parts/links.ts';
import classes from './cluster-banner.module.css';

const icons = {
  good: IconCircleCheck,
  busy: IconRefresh,
  held: IconHandStop,
  bad: IconAlertTriangle,
  stale: IconClock,
} as const;

/** The sentence and the colour for the whole cluster, above every view. Each part of it leads to the view where a person can act. */
export function ClusterBanner({ isStale }: { readonly isStale: boolean }) {
  const status = useStatus();
  const { tone, parts, rest } = clusterVerdict(status);
  const doubt = staleViewReason(status);
  const shown = isStale ? 'stale' : tone;
  const ToneIcon = icons[shown];
  // While members catch up the numbers change every second: a screen reader would read nothing else.
  const announced = shown === 'busy' ? 'off' : 'polite';
  return (
    <div className={classes.banner} data-tone={shown} role="status" aria-live={announced}>
      <ToneIcon size={20} aria-hidden="true" className={classes.icon} />
      <div>
        <Text fw={600}>
          {isStale && 'Last known: '}
          {tone === 'good' ? parts[0].text : <VerdictParts parts={parts} />}
          {rest}
        </Text>
        {doubt !== undefined && <Text size="sm">{doubt}</Text>}
      </div>
    </div>
  );
}

function VerdictParts({ parts }: { readonly parts: readonly VerdictPart[] }) {
  return parts.map(({ text, about }, index) => (
    <Fragment key={text}>
      {index > 0 && '; '}
      <Link href={linkOf(about)} className={classes.part}>
        {text}
      </Link>
    </Fragment>
  ));
}

/** The address of the view of a part. */
function linkOf(about: Subject): string {
  switch (about.view) {
    case 'member':
      return memberLink(about.id);
    case 'pair':
      return pairLink(about.from, about.to);
    case 'members':
      return memberLink(undefined);
    default:
      return `/${about.view}`;
  }
}
