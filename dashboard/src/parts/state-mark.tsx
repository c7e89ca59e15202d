import type { MemberCondition } from '@lockstep/shared';
import { conditionWords } from '@lockstep/shared/present';
import classes from './state-mark.module.css';

/** A member's condition in words; shape and colour only repeat it. */
export function StateMark({ condition }: { readonly condition: MemberCondition }) {
  return (
    <span className={classes.mark} data-condition={condition}>
      {conditionWords(condition)}
    </span>
  );
}
