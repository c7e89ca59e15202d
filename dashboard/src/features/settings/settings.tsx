import type { Setting, Settings as SettingsAnswer } from '@lockstep/shared/api';
import { formatBytes, formatItems } from '@lockstep/shared/present';
import { Alert, Button, Paper, Text, Title } from '@mantine/core';
import { useState } from 'react';
import { Link, useSearchParams } from 'wouter';
import { useStatus } from '../../live/status-context.ts';
import { useApi } from '../../live/use-api.ts';
import { ActionResult } from '../../parts/action-result.tsx';
import { memberControlPath, memberLink } from '../../parts/links.ts';
import { Failed, Loading } from '../../parts/notice.tsx';
import { useAction } from '../../parts/use-action.ts';
import { View } from '../../parts/view.tsx';
import { SettingRow } from './setting-row.tsx';
import classes from './settings.module.css';

/** The groups in the order of the page. */
const groups = [
  ['limits', 'Limits'],
  ['history', 'Old versions'],
  ['notices', 'Notices'],
  ['checks', 'Scans and checks'],
  ['member', 'This member'],
  ['access', 'Addresses and the dashboard'],
] as const satisfies readonly (readonly [Setting['group'], string])[];

/** An edit by hand is shown after this long at most. */
const refreshMs = 5_000;

/** Another member may be slow to answer. */
const timeoutMs = 30_000;

/** All settings of one member: what each is, where it is set, and what a change does. */
export function Settings() {
  const { now, member: here, members } = useStatus();
  const [parameters] = useSearchParams();
  const id = parameters.get('member') ?? here.id;
  const member = members.find((each) => each.id === id);
  const isHere = id === here.id;
  const path = isHere ? '/settings' : `${memberControlPath(id)}/settings`;
  // Another member is asked over the network, and only once: a change names the version that was shown.
  const { data, error, again } = useApi<SettingsAnswer>(
    path,
    isHere ? Math.floor(now / refreshMs) : undefined,
    timeoutMs,
  );
  const [editing, setEditing] = useState<string>();
  const action = useAction();
  return (
    <View
      title={isHere ? 'Settings' : `Settings of ${member?.name ?? 'another member'}`}
      aside={
        isHere
          ? `Of ${here.name} only: each member has its own`
          : `Changed from ${here.name}, as ${member?.name ?? 'that member'} allows`
      }
      actions={
        isHere ? (
          <Button variant="default" component={Link} href="/settings/ignore-rules">
            Ignore rules
          </Button>
        ) : (
          <>
            <Button variant="default" component={Link} href={memberLink(id)}>
              Its details
            </Button>
            <Button variant="default" component={Link} href="/settings">
              Settings of {here.name}
            </Button>
          </>
        )
      }
    >
      {data === undefined && (error === undefined ? <Loading rows={6} /> : <Failed error={error} again={again} />)}
      {data?.problem !== undefined && (
        <Alert color="red" variant="outline" role="alert" title="Settings cannot be changed here now">
          <Text className={classes.text}>{data.problem}</Text>
        </Alert>
      )}
      {data !== undefined &&
        groups.map(([group, title]) => (
          <Paper key={group} withBorder component="section" aria-labelledby={`settings-${group}`}>
            <div className={classes.title}>
              <Title order={2} size="h4" id={`settings-${group}`}>
                {title}
              </Title>
              {group === 'history' && isHere && <HistoryUse />}
            </div>
            <ul className={classes.list}>
              {data.settings
                .filter((setting) => setting.group === group)
                .map((setting) => (
                  <SettingRow
                    key={setting.key}
                    setting={setting}
                    path={path}
                    version={data.version}
                    canChange={data.problem === undefined}
                    isOpen={editing === setting.key}
                    setOpen={(isOpen) => setEditing(isOpen ? setting.key : undefined)}
                    run={action.run}
                    changed={again}
                  />
                ))}
            </ul>
          </Paper>
        ))}
      {data !== undefined && (
        <Text c="dimmed" size="sm" className={classes.text}>
          The settings are in {data.file}
          {isHere || ` on the machine of ${member?.name ?? 'that member'}`}. An edit there takes effect at the next{' '}
          <code>lockstep up</code>.
        </Text>
      )}
      <ActionResult state={action.state} forget={action.forget} />
    </View>
  );
}

/** The size of this member's history now. */
function HistoryUse() {
  const { history, member } = useStatus();
  if (history === undefined) return null;
  return (
    <Text c="dimmed" size="sm">
      {member.name} keeps {formatItems(history.versions, 'old version')} in {formatBytes(history.bytes)} of at most{' '}
      {formatBytes(history.bytesMax)}.
    </Text>
  );
}
