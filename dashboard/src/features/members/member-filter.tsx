import type { MemberReport } from '@lockstep/shared/api';
import { formatCount } from '@lockstep/shared/present';
import { CloseButton, TextInput, UnstyledButton } from '@mantine/core';
import { IconSearch } from '@tabler/icons-react';
import { useSearchParams } from 'wouter';
import classes from './member-filter.module.css';
import { type Standing, standingOf, standings } from './member-standing.ts';

const words: Readonly<Record<Standing, string>> = {
  down: 'down',
  problems: 'with problems',
  'shut-down': 'shut down',
  'cut-off': 'cut off',
  unknown: 'not known yet',
  silent: 'silent',
  syncing: 'catching up',
  paused: 'paused',
  active: 'active',
  left: 'left',
};

/** The number of members of each standing, and the filter by name and standing, which is in the address. */
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
      <fieldset className={classes.standings}>
        <legend>Show only members that are</legend>
        {standings.map((standing) => {
          const count = members.filter((member) => standingOf(member) === standing).length;
          const isChosen = standing === chosen;
          if (count === 0 && !isChosen) return null;
          return (
            <UnstyledButton
              key={standing}
              className={classes.standing}
              data-standing={standing}
              aria-pressed={isChosen}
              onClick={() => set('state', isChosen ? '' : standing)}
            >
              <b>{formatCount(count)}</b> {words[standing]}
            </UnstyledButton>
          );
        })}
      </fieldset>
    </div>
  );
}
