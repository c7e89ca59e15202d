import { bitRot } from './bit-rot.ts';
import { churn } from './churn.ts';
import { clock } from './clock.ts';
import { diskFull, readOnly, unmounted } from './disks.ts';
import { journalDamaged, journalDeleted } from './journals.ts';
import { kill } from './kill.ts';
import { nestedMount } from './nested-mount.ts';
import { newcomer } from './newcomer.ts';
import { partitionOf3, partitionOf5 } from './partition.ts';
import { pause } from './pause.ts';
import { powerCut } from './power-cut.ts';
import { setBack } from './set-back.ts';
import { slowLink } from './slow-link.ts';
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
