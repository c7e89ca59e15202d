import { clusterVerdict, ownTrouble } from '@lockstep/shared/present';
import { Text } from '@mantine/core';
import { IconAlertTriangle, IconCircleCheck, IconClock, IconPlayerPause, IconRefresh } from '@tabler/icons-react';
import { useStatus } from '../live/status-context.ts';
import classes from './cluster-banner.module.css';

const icons = {
  good: IconCircleCheck,
  busy: IconRefresh,
  held: IconPlayerPause,
  bad: IconAlertTriangle,
  stale: IconClock,
} as const;

/** The sentence and the colour for the whole cluster, above every view. */
export function ClusterBanner({ isStale }: { readonly isStale: boolean }) {
  const status = useStatus();
  const { tone, text } = clusterVerdict(status);
  const doubt = ownTrouble(status);
  const shown = isStale ? 'stale' : tone;
  const ToneIcon = icons[shown];
  // While members catch up the numbers change every second: a screen reader would read nothing else.
  const announced = shown === 'busy' ? 'off' : 'polite';
  return (
    <div className={classes.banner} data-tone={shown} role="status" aria-live={announced}>
      <ToneIcon size={20} aria-hidden="true" className={classes.icon} />
      <div>
        <Text fw={600}>{isStale ? `Last known: ${text}` : text}</Text>
        {doubt !== undefined && <Text size="sm">{doubt}</Text>}
      </div>
    </div>
  );
}
