import type { DirectoryPage, PathReport, RemovedEntry } from '@lockstep/shared/api';
import { formatBytes, formatItems } from '@lockstep/shared/present';
import { Button, Text, TextInput } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useState } from 'react';
import { navigate } from 'wouter/use-browser-location';
import { useStatus } from '../../live/status-context.ts';
import { apiPrefix, askApi, useApi } from '../../live/use-api.ts';
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx';
import { encodePath, pathLink } from '../../parts/links.ts';
import type { Action } from '../../parts/use-action.ts';
import { nameOf, parentOf, typeOf } from './listing.ts';
import { nameProblem } from './name-problem.ts';

/** A directory with many entries takes a while. */
const changeTimeoutMs = 600_000;

interface Props {
  readonly path: string;
  readonly type: ReturnType<typeof typeOf>;
  readonly size: number | undefined;
  /** The version that is shown: no other one is changed. */
  readonly version: string;
  readonly run: Action['run'];
}

/** Renames and deletes the entry that is shown, each after a dialog that says what will happen. */
export function EntryActions({ report, run }: { readonly report: PathReport; readonly run: Action['run'] }) {
  const [head] = report.heads;
  const type = head === undefined ? 'absent' : typeOf(head);
  if (head === undefined || type === 'absent') return null;
  const props = { path: report.path, type, size: head.size, version: `${head.origin}:${head.seq}`, run };
  return (
    <>
      <Rename {...props} />
      <Delete {...props} />
    </>
  );
}

function Rename({ path, type, version, run }: Props) {
  const { member, members } = useStatus();
  const [isAsking, { open, close }] = useDisclosure(false);
  const old = nameOf(path);
  const [name, setName] = useState(old);
  const problem = name === old ? 'This is its name now.' : nameProblem(name);
  const answer = (isYes: boolean): void => {
    if (isYes && problem !== undefined) return;
    close();
    if (!isYes) return;
    const parent = parentOf(path);
    const to = parent === '' ? name : `${parent}/${name}`;
    void run(`Renaming ${old} …`, async () => {
      await askApi(`/files/${encodePath(path)}`, {
        method: 'MOVE',
        headers: { 'if-match': `"${version}"`, destination: `${apiPrefix}/files/${encodePath(to)}` },
        timeoutMs: changeTimeoutMs,
      });
      navigate(pathLink(to), { replace: true });
      return `${old} was renamed to ${name}.`;
    });
  };
  return (
    <>
      <Button
        variant="default"
        size="xs"
        onClick={() => {
          setName(old);
          open();
        }}
      >
        Rename
      </Button>
      <ConfirmDialog
        title={`Rename ${old}`}
        isOpen={isAsking}
        confirm="Rename it"
        isReady={problem === undefined}
        answer={answer}
      >
        <TextInput
          label="New name"
          value={name}
          error={name === old ? undefined : problem}
          onChange={(event) => setName(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key === 'Enter') answer(true);
          }}
          autoComplete="off"
          data-autofocus
        />
        <Text size="sm">
          It is renamed in the folder of {member.name}
          {type === 'directory' && ', with everything in it'}
          {members.length > 1 && ', and all members get the new name'}. Nothing is sent again.
        </Text>
      </ConfirmDialog>
    </>
  );
}

function Delete(props: Props) {
  const { path, type, version, run } = props;
  const [isAsking, { open, close }] = useDisclosure(false);
  const isDirectory = type === 'directory';
  const { data } = useApi<DirectoryPage>(
    isAsking && isDirectory ? `/files/${encodePath(path)}?below=true&limit=1` : undefined,
    isAsking,
  );
  const name = nameOf(path);
  const below = data?.below;
  const answer = (isYes: boolean): void => {
    close();
    if (!isYes) return;
    const entries = below ? below.files + below.directories : undefined;
    const place = `/files/${encodePath(path)}${entries === undefined ? '' : `?entries=${entries}`}`;
    void run(`Deleting ${name} …`, async () => {
      const { left } = await askApi<RemovedEntry>(place, {
        method: 'DELETE',
        headers: { 'if-match': `"${version}"` },
        timeoutMs: changeTimeoutMs,
      });
      const [first] = left;
      return first === undefined
        ? `${name} was deleted.`
        : `${formatItems(left.length, 'entry', 'entries')} in ${name} stayed. ${first.reason}`;
    });
  };
  return (
    <>
      <Button variant="default" size="xs" onClick={open}>
        Delete
      </Button>
      <ConfirmDialog
        title={`Delete ${name}?`}
        isOpen={isAsking}
        confirm="Delete it"
        cancel="Do not delete"
        isHarmful
        isReady={!isDirectory || (below ?? undefined) !== undefined}
        answer={answer}
      >
        <Consequences {...props} page={data} />
      </ConfirmDialog>
    </>
  );
}

function Consequences({ path, type, size, page }: Props & { readonly page: DirectoryPage | undefined }) {
  const { member, members } = useStatus();
  const name = nameOf(path);
  const from = `from the folder of ${member.name}${members.length > 1 ? ', and from all other members' : ''}`;
  if (type === 'directory' && page === undefined) return <Text aria-busy="true">Counting what is in {name} …</Text>;
  if (page?.below === null) {
    return <Text>{name} holds too many entries to be deleted here: delete it in the folder itself.</Text>;
  }
  const { files, directories } = page?.below ?? { files: 0, directories: 0 };
  const inIt = [
    ...(files > 0 ? [formatItems(files, 'file')] : []),
    ...(directories > 0 ? [formatItems(directories, 'folder')] : []),
  ].join(' and ');
  return (
    <>
      <Text>
        <b>{name}</b>
        {size !== undefined && ` (${formatBytes(size)})`}
        {inIt !== '' && `, with the ${inIt} in it,`} is deleted {from}.
      </Text>
      <Text>While its content is in the history of a member, it can be put back: switch on Show deleted.</Text>
    </>
  );
}
