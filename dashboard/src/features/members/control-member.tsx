import type { MemberControl, MemberControlAnswer, MemberReport, PauseResult, RetryResult } from '@lockstep/shared/api';
import { Button, Group, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { Link } from 'wouter';
import { useStatus } from '../../live/status-context.ts';
import { askApi, useApi } from '../../live/use-api.ts';
import { ActionResult } from '../../parts/action-result.tsx';
import { retrySentence } from '../../parts/action-sentences.ts';
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx';
import { memberControlPath, memberSettingsLink } from '../../parts/links.ts';
import { useAction } from '../../parts/use-action.ts';

/** Conditions in which no agent of the member can answer. */
const absent: ReadonlySet<MemberReport['condition']> = new Set(['down', 'shut-down', 'away', 'left', 'silent']);

/** The other side may wait for one that is slow to answer, at each of its addresses. */
const timeoutMs = 60_000;

/** The actions on another member from here; nothing for this member, and for one that cannot answer. */
export function ControlMember({ member }: { readonly member: MemberReport }) {
  const isAsked = !member.self && !absent.has(member.condition);
  const path = memberControlPath(member.id);
  // It is asked again when its condition changes: its agent may have been restarted.
  const { data, error, again } = useApi<MemberControlAnswer>(isAsked ? path : undefined, member.condition, timeoutMs);
  if (!isAsked || (data === undefined && error === undefined)) return null;
  if (data === undefined || 'reason' in data) {
    return (
      <Text c="dimmed" size="sm">
        {data?.reason ?? error}
      </Text>
    );
  }
  if (data.allows === 'none') {
    return (
      <Text c="dimmed" size="sm">
        {member.name} does not let other members pause it or change its settings. A person on that machine allows it
        with <code>allow_control</code> in its config.toml.
      </Text>
    );
  }
  return <Controls {...{ member, path, again }} control={data} />;
}

function Controls({
  member: { id, name },
  control: { allows, paused },
  path,
  again,
}: {
  readonly member: MemberReport;
  readonly control: MemberControl;
  readonly path: string;
  readonly again: () => void;
}) {
  const { member: here } = useStatus();
  const { state, run, forget } = useAction();
  const [isAsking, { open, close }] = useDisclosure(false);
  const post = async <Result,>(what: string): Promise<Result> => {
    const result = await askApi<Result>(`${path}/${what}`, { method: 'POST', timeoutMs });
    again();
    return result;
  };
  const answerPause = (isYes: boolean): void => {
    close();
    if (!isYes) return;
    void run(`Pausing ${name} …`, async () => {
      await post<PauseResult>('pause');
      return `${name} is paused.`;
    });
  };
  const resume = (): void => {
    void run(`Resuming ${name} …`, async () => {
      await post<PauseResult>('resume');
      return `${name} is resumed.`;
    });
  };
  const retry = (): void => {
    void run(`${name} retries …`, async () => `On ${name}: ${retrySentence(await post<RetryResult>('retry'))}`);
  };
  return (
    <>
      <Group gap="xs">
        {paused ? (
          <Button size="xs" onClick={resume}>
            Resume {name}
          </Button>
        ) : (
          <Button variant="default" size="xs" onClick={open}>
            Pause {name} …
          </Button>
        )}
        <Button variant="default" size="xs" onClick={retry} disabled={paused}>
          Let {name} retry now
        </Button>
        {allows === 'settings' && (
          <Button variant="default" size="xs" component={Link} href={memberSettingsLink(id)}>
            Settings of {name}
          </Button>
        )}
      </Group>
      <ConfirmDialog
        title={`Pause ${name}?`}
        isOpen={isAsking}
        confirm={`Pause ${name}`}
        cancel="Do not pause"
        isHarmful
        answer={answerPause}
      >
        <Text>
          {name} ends its sessions with all members. Changes by others do not arrive there, and changes made there reach
          them only after it is resumed.
        </Text>
        <Text>
          It stays paused until a person resumes it, on its own page or in its details on {here.name}, even if its agent
          is restarted.
        </Text>
      </ConfirmDialog>
      <ActionResult state={state} forget={forget} />
    </>
  );
}
