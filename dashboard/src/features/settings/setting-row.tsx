import type { Setting, Settings } from '@lockstep/shared/api';
import { Button, Checkbox, Group, NativeSelect, Stack, Text, TextInput } from '@mantine/core';
import { type FormEvent, useId, useState } from 'react';
import { askApi } from '../../live/use-api.ts';
import type { Action } from '../../parts/use-action.ts';
import classes from './settings.module.css';

type Value = Setting['value'];

interface Props {
  readonly setting: Setting;
  /** The path of the member's settings in the API. */
  readonly path: string;
  /** The version of the file in which the setting is shown. */
  readonly version: string;
  readonly canChange: boolean;
  readonly isOpen: boolean;
  readonly setOpen: (isOpen: boolean) => void;
  readonly run: Action['run'];
  readonly changed: () => void;
}

/** One setting: its value, default and source, and a form that changes it. */
export function SettingRow({ setting, path, version, canChange, isOpen, setOpen, run, changed }: Props) {
  const { key, title, about, value, next, notes = [], warning, source, takesEffect, effect } = setting;
  const isOverridden = source.kind === 'environment' || source.kind === 'flag';
  return (
    <li className={classes.item} aria-label={title}>
      <div className={classes.what}>
        <Text fw={600}>{title}</Text>
        <Text c="dimmed" size="sm" className={classes.text}>
          {about}
        </Text>
      </div>
      <div className={classes.value}>
        <Text className={classes.text}>{wordsOf(value)}</Text>
        {next !== undefined && (
          <Text className={classes.text}>From the next start on: {wordsOf(next)}. Until then it is as above.</Text>
        )}
        {/* The value of a limit without rules says as much. */}
        {value !== 'none' &&
          notes.map((note) => (
            <Text key={note} size="sm" className={classes.text}>
              {note}
            </Text>
          ))}
        {warning !== undefined && (
          <Text size="sm" fw={600} className={classes.text}>
            {warning}
          </Text>
        )}
        <Text c="dimmed" size="sm" className={classes.text}>
          {sourceWords(setting)}
        </Text>
        {takesEffect === 'by-hand' && (
          <Text c="dimmed" size="sm" className={classes.text}>
            Changed in config.toml only (<code>{key}</code>). {effect}
          </Text>
        )}
      </div>
      {takesEffect !== 'by-hand' && !isOverridden && !isOpen && (
        <Button
          variant="default"
          size="xs"
          className={classes.change}
          disabled={!canChange}
          onClick={() => setOpen(true)}
          aria-label={`Change: ${title}`}
        >
          Change
        </Button>
      )}
      {isOpen && <SettingForm {...{ setting, path, version, run, changed }} close={() => setOpen(false)} />}
    </li>
  );
}

function SettingForm({
  setting,
  path,
  version,
  run,
  changed,
  close,
}: Pick<Props, 'setting' | 'path' | 'version' | 'run' | 'changed'> & { readonly close: () => void }) {
  const { key, title, value, next = value, takesEffect, effect, source } = setting;
  // The version that the person saw when the form was opened: an edit by hand since then is not overwritten.
  const [seen, setSeen] = useState(version);
  const [given, setGiven] = useState<Value>(next);
  const [problem, setProblem] = useState<string>();
  const save = (newValue: Value | null): void => {
    void run(`Changing ${title.toLowerCase()} …`, async () => {
      try {
        const headers = { 'if-match': `"${seen}"` };
        await askApi<Settings>(path, { method: 'PATCH', headers, body: { key, value: newValue } });
      } catch (error) {
        setSeen((await askApi<Settings>(path)).version);
        setProblem(error instanceof Error ? error.message : String(error));
        changed();
        throw error;
      }
      close();
      changed();
      return `${title}: ${newValue === null ? 'the default' : wordsOf(newValue)}${
        takesEffect === 'now' ? ', from now on.' : ', from the next lockstep up on.'
      }`;
    });
  };
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    save(given);
  };
  return (
    <form className={classes.form} onSubmit={submit}>
      <Stack gap="xs">
        <SettingField setting={setting} given={given} change={setGiven} problem={problem} />
        <Text size="sm">
          {effect} {takesEffect === 'now' ? 'It takes effect at once.' : 'It takes effect at the next lockstep up.'}
        </Text>
        <Group gap="xs">
          <Button type="submit" size="xs">
            Save
          </Button>
          {source.kind === 'file' && (
            <Button variant="default" size="xs" onClick={() => save(null)}>
              Back to the default
            </Button>
          )}
          <Button variant="default" size="xs" onClick={close}>
            Cancel
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

function SettingField({
  setting: { title, allowed, choices },
  given,
  change,
  problem,
}: {
  readonly setting: Setting;
  readonly given: Value;
  readonly change: (value: Value) => void;
  readonly problem: string | undefined;
}) {
  const hint = useId();
  if (choices !== undefined && typeof given !== 'string') {
    return (
      <Checkbox.Group label={title} value={[...given]} onChange={change} error={problem}>
        <Group gap="md" mt="xs">
          {choices.map((choice) => (
            <Checkbox key={choice} value={choice} label={choice} />
          ))}
        </Group>
      </Checkbox.Group>
    );
  }
  const text = typeof given === 'string' ? given : given.join(', ');
  if (choices !== undefined) {
    return (
      <NativeSelect
        label={title}
        value={text}
        data={[...choices]}
        error={problem}
        onChange={({ currentTarget }) => change(currentTarget.value)}
      />
    );
  }
  return (
    <TextInput
      label={title}
      description={`It must be ${allowed}.`}
      descriptionProps={{ id: hint }}
      aria-describedby={hint}
      value={text}
      error={problem}
      onChange={({ currentTarget }) => change(currentTarget.value)}
      data-autofocus
      autoComplete="off"
      spellCheck={false}
    />
  );
}

function wordsOf(value: Value): string {
  if (value.length === 0) return 'none';
  return typeof value === 'string' ? value : value.join(', ');
}

function sourceWords({ key, source: { kind, where }, default: usual }: Setting): string {
  const otherwise = `The default is ${wordsOf(usual)}.`;
  switch (kind) {
    case 'default':
      return 'The default.';
    case 'file':
      return `Set in ${where}. ${otherwise}`;
    case 'environment':
      return `Set by the environment variable ${where}, which overrides config.toml: change it there. ${otherwise}`;
    case 'flag':
      return `Set by the option ${where} of lockstep up, which overrides config.toml (${key}). ${otherwise}`;
  }
}
