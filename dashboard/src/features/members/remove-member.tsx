import type { MemberReport, RemoveMemberResult } from '@lockstep/shared/api';
import { informedMembers } from '@lockstep/shared/present';
import { Button, Text, TextInput } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useState } from 'react';
import { askApi } from '../../live/use-api.ts';
import { ActionResult } from '../../parts/action-result.tsx';
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx';
import { useAction } from '../../parts/use-action.ts';

/** Removes a member that is down from the cluster, or takes a removed one back. Nothing for all others. */
export function RemoveMember({ member }: { readonly member: MemberReport }) {
  const { state, run, forget } = useAction();
  const [isAsking, { open, close }] = useDisclosure(false);
  const [typed, setTyped] = useState('');
  const { id, name, removedBy } = member;
  const send = (undo: boolean): void => {
    void run(undo ? `Taking ${name} back …` : `Removing ${name} …`, async () => {
      const { told } = await askApi<RemoveMemberResult>('/members/remove', {
        method: 'POST',
        body: { member: id, undo },
      });
      const known = informedMembers(told);
      return undo
        ? `${name} is taken back: it takes part again as soon as it connects. ${known}`
        : `${name} is removed from the cluster. ${known}`;
    });
  };
  const answer = (isYes: boolean): void => {
    close();
    setTyped('');
    if (isYes) send(false);
  };
  const isGone = member.state === 'down';
  return (
    <>
      {removedBy !== undefined && (
        <Button variant="default" size="xs" onClick={() => send(true)}>
          Take {name} back
        </Button>
      )}
      {isGone && (
        <Button variant="default" size="xs" onClick={open}>
          Remove {name} from the cluster …
        </Button>
      )}
      <ConfirmDialog
        title={`Remove ${name} from the cluster?`}
        isOpen={isAsking}
        confirm={`Remove ${name}`}
        cancel="Do not remove"
        isHarmful
        isReady={typed.trim() === name}
        answer={answer}
      >
        <Text>
          For a machine that is lost. No member waits for {name} any more, and it is refused if it comes back, until it
          is taken back here. What only {name} had stays on its disk.
        </Text>
        <TextInput
          label={`To confirm, type its name: ${name}`}
          value={typed}
          onChange={(event) => setTyped(event.currentTarget.value)}
          autoComplete="off"
        />
      </ConfirmDialog>
      <ActionResult state={state} forget={forget} />
    </>
  );
}
