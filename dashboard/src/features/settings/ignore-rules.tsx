import type { IgnorePreview, IgnoreRulesAnswer, WrittenEntry } from '@lockstep/shared/api';
import { formatCount, formatItems, withRule } from '@lockstep/shared/present';
import { Alert, Button, Group, Paper, Stack, Text, Textarea, Title } from '@mantine/core';
import { useState } from 'react';
import { Link, useSearchParams } from 'wouter';
import { useStatus } from '../../live/status-context.ts';
import { askApi, useApi } from '../../live/use-api.ts';
import { ActionResult } from '../../parts/action-result.tsx';
import { encodePath, pathLink } from '../../parts/links.ts';
import { Failed, Loading } from '../../parts/notice.tsx';
import { useAction } from '../../parts/use-action.ts';
import { View } from '../../parts/view.tsx';
import classes from './settings.module.css';

const previewTimeoutMs = 30_000;

/** The rules for what is not replicated: what they are, and what a change would do before it is saved. */
export function IgnoreRules() {
  const { now } = useStatus();
  const [parameters] = useSearchParams();
  const { data, error, again } = useApi<IgnoreRulesAnswer>('/ignore-rules', Math.floor(now / 5_000));
  const rule = parameters.get('add') ?? undefined;
  return (
    <View
      title="Ignore rules"
      aside="What is not replicated: the rules are a file of the folder, the same on all members"
      actions={
        <Button variant="default" component={Link} href="/settings">
          All settings
        </Button>
      }
    >
      {data === undefined && (error === undefined ? <Loading rows={4} /> : <Failed error={error} again={again} />)}
      {data?.fault !== undefined && (
        <Alert color="red" variant="outline" role="alert" title="The rules of the file are not in force">
          <Text className={classes.text}>{data.fault}</Text>
        </Alert>
      )}
      {data !== undefined && <SkippedLines skipped={data.skipped} />}
      {data?.text === null && (
        <Text>
          What is at <Link href={pathLink(data.path)}>{data.path}</Link> is no text, and cannot be edited here.
        </Text>
      )}
      {data !== undefined && data.text !== null && (
        <RulesForm key={rule} rules={{ ...data, text: data.text }} rule={rule} changed={again} />
      )}
    </View>
  );
}

interface Rules extends IgnoreRulesAnswer {
  readonly text: string;
}

function RulesForm({
  rules,
  rule,
  changed,
}: {
  readonly rules: Rules;
  /** A line that a person may want to add. */
  readonly rule: string | undefined;
  readonly changed: () => void;
}) {
  // The version that was read when the form was opened: a later one is not overwritten.
  const [base, setBase] = useState(rules);
  const [text, setText] = useState(() => (rule === undefined ? base.text : withRule(base.text, rule)));
  const [preview, setPreview] = useState<{ readonly of: string; readonly said: IgnorePreview }>();
  const action = useAction();
  const isOutdated = rules.version !== base.version;
  const isChanged = text !== base.text;
  const shown = preview?.of === text ? preview.said : undefined;
  const look = (): void => {
    let isShown = false;
    const asked = action.run('Comparing the rules with all entries …', async () => {
      const body = { text };
      const said = await askApi<IgnorePreview>('/ignore-rules/preview', {
        ...{ method: 'POST', body, timeoutMs: previewTimeoutMs },
      });
      isShown = true;
      setPreview({ of: text, said });
      return 'What the change will do is shown below the rules.';
    });
    // On a narrow screen the notification would cover what it announces.
    void asked.then(() => isShown && action.forget());
  };
  const save = (): void => {
    void action.run('Saving the rules …', async () => {
      const headers: Record<string, string> =
        base.version === null ? { 'if-none-match': '*' } : { 'if-match': `"${base.version}"` };
      const { version } = await askApi<WrittenEntry>(`/files/${encodePath(rules.path)}`, {
        ...{ method: 'PUT', headers, text },
      });
      setBase({ ...base, version, text });
      changed();
      return 'The rules are saved, and go to all members. Lines that were taken out come into force after a second.';
    });
  };
  const reload = (): void => {
    setBase(rules);
    setText(rule === undefined ? rules.text : withRule(rules.text, rule));
  };
  return (
    <Paper withBorder p="md">
      <Stack gap="sm">
        <Textarea
          label={`The rules in ${rules.path}`}
          description="One pattern a line, as in .gitignore: *.log, build/, /only-at-the-top, !but-not-this"
          autosize
          minRows={8}
          maxRows={24}
          value={text}
          onChange={({ currentTarget }) => setText(currentTarget.value)}
          spellCheck={false}
          classNames={{ input: classes.rules }}
        />
        {isOutdated && (
          <Alert color="red" variant="outline" title="The file was changed meanwhile">
            <Group gap="sm">
              <Text>What is here cannot be saved over it.</Text>
              <Button variant="default" size="xs" onClick={reload}>
                Show the file as it is now
              </Button>
            </Group>
          </Alert>
        )}
        <Group gap="xs">
          <Button
            variant={shown === undefined ? 'filled' : 'default'}
            onClick={look}
            disabled={!isChanged || isOutdated}
          >
            Show what this will do
          </Button>
          <Button onClick={save} disabled={!isChanged || shown === undefined || isOutdated}>
            Save the rules
          </Button>
        </Group>
        {shown !== undefined && isChanged && <Preview preview={shown} />}
      </Stack>
      <ActionResult state={action.state} forget={action.forget} />
    </Paper>
  );
}

/** The effect of a change, in words. */
function Preview({ preview: { ignored, revealed, skipped } }: { readonly preview: IgnorePreview }) {
  const { member } = useStatus();
  return (
    <Stack gap="sm" component="section" aria-label="What this will do" aria-live="polite">
      <Title order={2} size="h4">
        What this will do
      </Title>
      <SkippedLines skipped={skipped} />
      <Affected
        affected={ignored}
        title={`${countOf(ignored)} will be ignored from now on`}
        none="Nothing that is replicated now will be ignored."
      >
        They stay on the disks of all members, and what is changed or deleted there later goes to no other member. Do
        not move a directory into an ignored one to hide it: for the others that deletes it.
      </Affected>
      <Affected
        affected={revealed}
        title={`${countOf(revealed)} will no longer be ignored`}
        none={`Nothing on ${member.name} or known to it will stop being ignored. Other members may have ignored files of their own.`}
      >
        They are sent to all members, which cannot be undone: look for secrets. Other members may have more. Where
        members have different versions, conflict copies are made. What was deleted here meanwhile comes back if another
        member has it.
      </Affected>
    </Stack>
  );
}

function Affected({
  affected: { count, first },
  title,
  none,
  children,
}: {
  readonly affected: IgnorePreview['ignored'];
  readonly title: string;
  readonly none: string;
  readonly children: string | readonly string[];
}) {
  if (count === 0) return <Text>{none}</Text>;
  return (
    <div>
      <Text fw={600}>{title}</Text>
      <Text>{children}</Text>
      <ul className={classes.paths}>
        {first.map((path) => (
          <li key={path}>{path}</li>
        ))}
        {count > first.length && <li>and {formatCount(count - first.length)} more</li>}
      </ul>
    </div>
  );
}

function countOf({ count, isPartial }: IgnorePreview['ignored']): string {
  return `${isPartial ? 'At least ' : ''}${formatItems(count, 'entry', 'entries')}`;
}

function SkippedLines({ skipped }: Pick<IgnoreRulesAnswer, 'skipped'>) {
  if (skipped.length === 0) return null;
  return (
    <Alert color="red" variant="outline" title="Lines that are no rules are left out">
      {skipped.map(({ line, text, detail }) => (
        <Text key={line} className={classes.text}>
          Line {line}, <code>{text}</code>: {detail}
        </Text>
      ))}
    </Alert>
  );
}
