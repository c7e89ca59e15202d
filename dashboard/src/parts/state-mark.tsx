import type { MemberReport } from '@lockstep/shared/api';
import classes from './state-mark.module.css';

const words: Record<MemberReport['state'], string> = {
  joining: 'joining',
  syncing: 'catching up',
  active: 'active',
  suspect: 'silent',
  down: 'down',
  left: 'has left',
};

/** A member's state as a word; shape and colour only repeat it. */
export function StateMark({ state, paused = false }: Pick<MemberReport, 'state' | 'paused'>) {
  return (
    <span className={classes.mark} data-state={paused ? 'paused' : state}>
      {paused ? 'paused' : words[state]}
    </span>
  );
}
