import type { Lab } from '../labs/lab.ts';
import { Load } from '../load/load.ts';
import type { Stage } from './stage.ts';

/** The directory in which the careless users work. */
export const loadRoom = 'load';

/** Starts a user on each member who writes, renames and deletes until the load is stopped. */
export function startLoad(stage: Stage, lab: Lab): Load {
  const places = lab.members.map((member) => ({ member, outside: lab.outside(member) }));
  const load = new Load(places, loadRoom, stage.random);
  load.start();
  stage.whenInterrupted(() => load.stop());
  stage.did(`a user on each of ${lab.members.map(({ name }) => name).join(', ')} writes, renames and deletes`);
  return load;
}
