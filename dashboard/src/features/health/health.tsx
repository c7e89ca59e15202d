import type { Beats, HealthSpan } from '@lockstep/shared/api';
import { useSearchParams } from 'wouter';
import { useStatus } from '../../live/status-context.ts';
import { useApi } from '../../live/use-api.ts';
import { Failed, Loading } from '../../parts/notice.tsx';
import { SpanChoice } from '../../parts/span-choice.tsx';
import { View } from '../../parts/view.tsx';
import { BeatTable } from './beat-table.tsx';
import { EventList } from './event-list.tsx';
import { NoticePanel } from './notice-panel.tsx';

const spans = [
  ['1h', '1 hour'],
  ['24h', '24 hours'],
  ['7d', '7 days'],
  ['30d', '30 days'],
] as const satisfies readonly (readonly [HealthSpan, string])[];

/** The history of the members' conditions, and the targets of notices. */
export function Health() {
  const { now, member } = useStatus();
  const [parameters] = useSearchParams();
  const chosen = spans.find(([span]) => span === parameters.get('span')) ?? spans[1];
  const about = parameters.get('about') ?? undefined;
  const { data, error, again } = useApi<Beats>(`/health/beats?span=${chosen[0]}`, Math.floor(now / 10_000));
  return (
    <View
      title="Health"
      aside={`What ${member.name} saw`}
      actions={<SpanChoice spans={spans} chosen={chosen[0]} hrefOf={(span) => healthLink(span, about)} />}
    >
      {data !== undefined && <BeatTable beats={data} words={chosen[1]} />}
      {data === undefined && (error === undefined ? <Loading rows={4} /> : <Failed error={error} again={again} />)}
      <EventList key={about} about={about} hrefOf={(id) => healthLink(chosen[0], id)} />
      <NoticePanel />
    </View>
  );
}

function healthLink(span: HealthSpan, about: string | undefined): string {
  return `/health?${new URLSearchParams({ span, ...(about !== undefined && { about }) })}`;
}
