import { Button, Group, Text, TextInput } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconFolderPlus, IconFolderUp, IconUpload } from '@tabler/icons-react';
import { type ChangeEvent, useRef, useState } from 'react';
import { useStatus } from '../../live/status-context.ts';
import { askApi } from '../../live/use-api.ts';
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx';
import { encodePath } from '../../parts/links.ts';
import { pickedBy } from '../../parts/uploads/picked.ts';
import { uploads } from '../../parts/uploads/uploads.ts';
import type { Action } from '../../parts/use-action.ts';
import { nameProblem } from './name-problem.ts';

interface Props {
  readonly directory: string;
  readonly run: Action['run'];
  /** There is no room for icons. */
  readonly isCompact: boolean;
}

/** Puts files, whole directories and new directories into a directory. */
export function DirectoryActions({ directory, run, isCompact }: Props) {
  const files = useRef<HTMLInputElement>(null);
  const folder = useRef<HTMLInputElement>(null);
  const add = ({ currentTarget }: ChangeEvent<HTMLInputElement>): void => {
    uploads.add(directory, pickedBy(currentTarget));
    // The same files may be picked again.
    currentTarget.value = '';
  };
  return (
    <Group gap="xs">
      <NewDirectory directory={directory} run={run} isCompact={isCompact} />
      <Button
        variant="default"
        size="xs"
        leftSection={isCompact ? undefined : <IconUpload size={16} aria-hidden="true" />}
        onClick={() => files.current?.click()}
      >
        Upload files
      </Button>
      <Button
        variant="default"
        size="xs"
        leftSection={isCompact ? undefined : <IconFolderUp size={16} aria-hidden="true" />}
        onClick={() => folder.current?.click()}
      >
        Upload folder
      </Button>
      <input type="file" ref={files} multiple hidden onChange={add} data-picks="files" />
      <input type="file" ref={folder} {...{ webkitdirectory: '' }} hidden onChange={add} data-picks="folder" />
    </Group>
  );
}

function NewDirectory({ directory, run, isCompact }: Props) {
  const { member, members } = useStatus();
  const [isAsking, { open, close }] = useDisclosure(false);
  const [name, setName] = useState('');
  const problem = nameProblem(name);
  const path = directory === '' ? name : `${directory}/${name}`;
  const answer = (isYes: boolean): void => {
    if (isYes && problem !== undefined) return;
    close();
    setName('');
    if (!isYes) return;
    void run(`Making ${name} …`, async () => {
      await askApi(`/files/${encodePath(path)}`, { method: 'MKCOL' });
      return `${name} was made.`;
    });
  };
  return (
    <>
      <Button
        variant="default"
        size="xs"
        leftSection={isCompact ? undefined : <IconFolderPlus size={16} aria-hidden="true" />}
        onClick={open}
      >
        New folder
      </Button>
      <ConfirmDialog
        title={directory === '' ? 'New folder' : `New folder in ${directory}`}
        isOpen={isAsking}
        confirm="Make it"
        isReady={problem === undefined}
        answer={answer}
      >
        <TextInput
          label="Name"
          value={name}
          error={name === '' ? undefined : problem}
          onChange={(event) => setName(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key === 'Enter') answer(true);
          }}
          autoComplete="off"
          data-autofocus
        />
        <Text size="sm">
          It is made in the folder of {member.name}
          {members.length > 1 && ', and all members get it'}.
        </Text>
      </ConfirmDialog>
    </>
  );
}
