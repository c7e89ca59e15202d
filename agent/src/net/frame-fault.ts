import { LockstepError } from '@lockstep/shared';

/** The error for a frame that does not conform to the protocol; `field` names the place, `what` the fault. */
export function frameFault(field: string, what: string): LockstepError {
  return new LockstepError('frame-invalid', `${field} ${what}`);
}
