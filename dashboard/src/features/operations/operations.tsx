import { formatItems } from '@lockstep/shared/present';
import { Button, CloseButton, Group, NativeSelect, TextInput } from '@mantine/core';
import { IconPlayerPause, IconPlayerPlay, IconSearch } from '@tabler/icons-react';
import { useCallback, useEffect, useState, useSyncExternalStore } from 'react';
import { useSearchParams } from 'wouter';
import { useStatus } from '../../live/status-context.ts';
import { Empty, Failed, Loading } from '../../parts/notice.tsx';
import { acts, isEveryOperation, type OperationFilter } from '../../parts/operations/operation-filter.ts';
import { View } from '../../parts/view.tsx';
import { FeedList } from './feed-list.tsx';
import { JourneyPanel } from './journey-panel.tsx';
import { OperationFeed } from './operation-feed.ts';
import classes from './operations.module.css';

/** One feed for the whole page: it keeps its operations while the user is in another view. */
const feed = new OperationFeed();

/** The live feed of the operations in this member's journal. */
export function Operations() {
  const { members } = useStatus();
  const state = useSyncExternalStore(feed.subscribe, feed.get);
  const [filter, setFilter] = useFilter();
  const [chosen, setChosen] = useChosen();
  const [open, setOpen] = useState<ReadonlySet<number>>(new Set());
  const { list } = feed;
  const isEmpty = list.visible.length === 0;
  return (
    <View
      title="Operations"
      aside={<Connection connection={state.connection} isFollowing={state.isFollowing} count={list.operations} />}
      actions={
        <Button
          variant="default"
          className={classes.follow}
          leftSection={
            state.isFollowing ? (
              <IconPlayerPause size={16} aria-hidden="true" />
            ) : (
              <IconPlayerPlay size={16} aria-hidden="true" />
            )
          }
          onClick={() => (state.isFollowing ? feed.pause() : feed.follow())}
        >
          {state.isFollowing ? 'Pause' : 'Follow'}
        </Button>
      }
    >
      <Group gap="sm" role="search" aria-label="Filter the operations">
        <TextInput
          className={classes.text}
          aria-label="Part of a path"
          placeholder="Part of a path"
          leftSection={<IconSearch size={16} aria-hidden="true" />}
          rightSection={
            filter.text !== '' && (
              <CloseButton size="sm" aria-label="Clear the path" onClick={() => setFilter({ text: '' })} />
            )
          }
          value={filter.text}
          onChange={({ currentTarget }) => setFilter({ text: currentTarget.value })}
        />
        <NativeSelect
          aria-label="What was done"
          value={filter.kind}
          onChange={({ currentTarget }) => setFilter({ kind: currentTarget.value })}
          data={[
            { value: '', label: 'Everything' },
            ...Object.entries(acts).map(([value, label]) => ({ value, label })),
          ]}
        />
        <NativeSelect
          aria-label="Who did it"
          value={filter.member}
          onChange={({ currentTarget }) => setFilter({ member: currentTarget.value })}
          data={[{ value: '', label: 'By any member' }, ...members.map(({ id, name }) => ({ value: id, label: name }))]}
        />
      </Group>
      {state.error !== undefined && <Failed error={state.error} again={() => feed.loadOlder()} />}
      {isEmpty && state.end !== 'more' && state.end !== 'loading' ? (
        <Empty title={isEveryOperation(filter) ? 'Nothing has happened yet' : 'Nothing matches'}>
          {isEveryOperation(filter)
            ? 'Put a file into the folder of any member, and it appears here.'
            : 'New operations that match appear here. Change the filter to see more.'}
        </Empty>
      ) : isEmpty && state.connection === 'opening' ? (
        <Loading rows={10} />
      ) : (
        <FeedList feed={feed} state={state} open={open} setOpen={setOpen} chosen={chosen} choose={setChosen} />
      )}
      <JourneyPanel chosen={chosen} close={() => setChosen(undefined)} />
    </View>
  );
}

function Connection({
  connection,
  isFollowing,
  count,
}: {
  readonly connection: 'opening' | 'live' | 'lost';
  readonly isFollowing: boolean;
  readonly count: number;
}) {
  if (connection === 'opening') return 'Connecting…';
  if (connection === 'lost') return 'The connection is lost; missed operations follow when it is back.';
  return `${isFollowing ? 'Live' : 'Paused'}, ${formatItems(count, 'operation')} loaded.`;
}

/** The filter. It is in the address, so that a link to it can be shared. */
function useFilter(): readonly [OperationFilter, (change: Partial<OperationFilter>) => void] {
  const [parameters, setParameters] = useSearchParams();
  const text = parameters.get('path') ?? '';
  const kind = parameters.get('kind') ?? '';
  const member = parameters.get('member') ?? '';
  useEffect(() => feed.setFilter({ text, kind, member }), [text, kind, member]);
  const change = useCallback(
    (more: Partial<OperationFilter>) =>
      setParameters(
        (before) => {
          const after = new URLSearchParams(before);
          for (const [name, value] of Object.entries(more)) {
            const parameter = name === 'text' ? 'path' : name;
            if (value === '') after.delete(parameter);
            else after.set(parameter, value);
          }
          return after;
        },
        { replace: true },
      ),
    [setParameters],
  );
  return [{ text, kind, member }, change];
}

/** `origin:seq` of the operation whose journey is shown. */
function useChosen(): readonly [string | undefined, (operation: string | undefined) => void] {
  const [parameters, setParameters] = useSearchParams();
  const choose = useCallback(
    (operation: string | undefined) =>
      setParameters((before) => {
        const after = new URLSearchParams(before);
        if (operation === undefined) after.delete('op');
        else after.set('op', operation);
        return after;
      }),
    [setParameters],
  );
  return [parameters.get('op') ?? undefined, choose];
}
