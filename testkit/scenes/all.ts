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
import { saturatedLink } from './saturated-link.ts';
import { setBack } from './set-back.ts';
import { slowLink } from './slow-link.ts';
import type { Scene } from './stage.ts';

/** All scenes, in the order in which they are played. */
export const scenes: readonly Scene[] = [
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
  saturatedLink,
  churn,
];
