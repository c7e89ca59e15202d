import type { Status } from '@lockstep/shared/api';
import { formatNames } from '@lockstep/shared/present';

/** The title and the sentence of the view while it lists nothing: that all is well, or that this member cannot know. */
export function nothingListed({
  member,
  members,
  paused,
  conflictCopies,
}: Pick<Status, 'member' | 'members' | 'paused' | 'conflictCopies'>): {
  readonly title: string;
  readonly text: string;
} {
  const { name } = member;
  if (paused) {
    return {
      title: `${name} is paused`,
      text: `A person resumes it: Actions, Resume ${name}. Until then it hears no other member, and cannot say whether one has a problem.`,
    };
  }
  const unheard = members.filter(({ condition }) => condition === 'unknown' || condition === 'silent');
  if (unheard.length > 0) {
    const names = formatNames(unheard.map((other) => other.name));
    return {
      title: 'No problem is known',
      text: `${name} has no problem, but does not hear ${names} at the moment.`,
    };
  }
  return {
    title: conflictCopies > 0 ? 'No problem' : 'Nothing needs your attention',
    text: `${name} has no problem, no other member is down, paused or reports one, and no two are cut off from each other.`,
  };
}
