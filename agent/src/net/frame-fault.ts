import { LockstepError } from '@lockstep/shared';

/** The error of a frame that is not what the protocol says; `field` names the place, `what` says what is wrong with it. */
export function frameFault(field: string, what: string): LockstepError {
  return new LockstepError('frame-invalid', `${field} ${what}`);
}
