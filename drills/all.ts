import { bitRot } from './scenes/bit-rot.ts';
import { churn } from './scenes/churn.ts';
import { clock } from './scenes/clock.ts';
import { diskFull, readOnly, unmounted } from './scenes/disks.ts';
import { journalDamaged, journalDeleted } from './scenes/journals.ts';
import { kill } from './scenes/kill.ts';
import { nestedMount } from './scenes/nested-mount.ts';
import { newcomer } from './scenes/newcomer.ts';
import { partitionOf3, partitionOf5 } from './scenes/partition.ts';
import { pause } from './scenes/pause.ts';
import { powerCut } from './scenes/power-cut.ts';
import { setBack } from './scenes/set-back.ts';
import { slowLink } from './scenes/slow-link.ts';
import type { Drill } from './stage.ts';

/** All drills, in the order in which they are run. */
export const drills: readonly Drill[] = [
  kill,
  partitionOf3,
  partitionOf5,
  pause,
  newcomer,
  diskFull,
  readOnly,
  unmounted,
  nestedMount,
  powerCut,
  bitRot,
  clock,
  journalDeleted,
  journalDamaged,
  setBack,
  slowLink,
  churn,
];
