import type { MemberReport } from '@lockstep/shared/api';
import { formatCount } from '@lockstep/shared/present';
import { CloseButton, TextInput, UnstyledButton } from '@mantine/core';
import { IconSearch } from '@tabler/icons-react';
import { useSearchParams } from 'wouter';
import classes from './member-filter.module.css';
import { groupOf, type MemberGroup, memberGroups } from './member-groups.ts';

const words: Readonly<Record<MemberGroup, string>> = {
  down: 'down',
  problems: 'with problems',
  'shut-down': 'shut down',
  'cut-off': 'cut off',
  unknown: 'not known yet',
  silent: 'silent',
  syncing: 'catching up',
  paused: 'paused',
  away: 'away',
  active: 'active',
  left: 'left',
};

/** The number of members in each group, and the filter by name and group, which is in the address. */
export function MemberFilter({ members }: { readonly members: readonly MemberReport[] }) {
  const [parameters, setParameters] = useSearchParams();
  const part = parameters.get('name') ?? '';
  const chosen = parameters.get('state');
  const set = (key: string, value: string): void => {
    setParameters(
      (before) => {
        if (value === '') before.delete(key);
        else before.set(key, value);
        return before;
      },
      { replace: true },
    );
  };
  return (
    <div className={classes.filter}>
      <TextInput
        type="search"
        className={classes.box}
        aria-label="Part of a name or address"
        placeholder="Name or address"
        value={part}
        onChange={(event) => set('name', event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === 'Escape') set('name', '');
        }}
        leftSection={<IconSearch size={16} aria-hidden="true" />}
        rightSection={part !== '' && <CloseButton size="sm" aria-label="Clear" onClick={() => set('name', '')} />}
      />
      <fieldset className={classes.groups}>
        <legend>Show only members that are</legend>
        {memberGroups.map((group) => {
          const count = members.filter((member) => groupOf(member) === group).length;
          const isChosen = group === chosen;
          if (count === 0 && !isChosen) return null;
          return (
            <UnstyledButton
              key={group}
              className={classes.group}
              data-group={group}
              aria-pressed={isChosen}
              onClick={() => set('state', isChosen ? '' : group)}
            >
              <b>{formatCount(count)}</b> {words[group]}
            </UnstyledButton>
          );
        })}
      </fieldset>
    </div>
  );
}
