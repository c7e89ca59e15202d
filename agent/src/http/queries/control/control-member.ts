import { errorCodes, LockstepError, type MemberRecord } from '@lockstep/shared';
import {
  apiErrorCodes,
  type ControlAnswer,
  type ControlRequest,
  controlRequestSchema,
  type MemberControlAnswer,
  memberControlSchema,
} from '@lockstep/shared/api';
import { z } from 'zod';
import { HttpError } from '../../errors.ts';
import type { ServedMember } from '../../served-member.ts';
import { findMember } from '../find-member.ts';
import { asSentence } from '../sentence.ts';

/** The status of what another member refuses, where it is not that of a LockstepError. */
const statuses: Readonly<Record<string, number>> = { 'control-refused': 403, 'version-mismatch': 412 };

const knownCodes = z.enum([...errorCodes, ...apiErrorCodes]);

/**
 * Asks another member of the cluster, named by its name or id, to do something, and returns its answer. Throws its answer if it refuses,
 * `unreachable` if it cannot be asked, and `control-unanswered` if it gave no answer. Throws `request-invalid` for an unknown name and for
 * this member's own.
 */
export async function controlMember<T>(
  served: ServedMember,
  name: string,
  request: ControlRequest,
  schema: z.ZodType<T>,
): Promise<T> {
  const record = findMember(served.engine, name, 'joined');
  const { self } = served.engine.context;
  if (record.id === self.id) {
    throw new LockstepError(
      'request-invalid',
      `${self.name} is this member: use the commands without a member’s name.`,
    );
  }
  if (record.membership !== 'joined') {
    throw new LockstepError('request-invalid', `${record.name} has left the cluster, and cannot be controlled.`);
  }
  if (!controlRequestSchema.safeParse(request).success) {
    throw new LockstepError('request-invalid', 'If-Match must name one version of config.toml.');
  }
  const answer = await ask(served, record, request);
  if ('refused' in answer) throw refusalOf(answer.refused);
  const { data } = schema.safeParse(answer.done);
  if (data !== undefined) return data;
  throw new LockstepError(
    'protocol-mismatch',
    `${record.name} gave an answer that ${self.name} does not understand: bring both to the same version of Lockstep.`,
  );
}

/** The control that another member grants to this one, or why it could not be asked. Throws `request-invalid` for an unknown name. */
export async function lookAtMember(served: ServedMember, name: string): Promise<MemberControlAnswer> {
  const { id } = findMember(served.engine, name, 'joined');
  try {
    return await controlMember(served, id, { do: 'look' }, memberControlSchema);
  } catch (error) {
    if (error instanceof LockstepError || error instanceof HttpError) return { reason: error.message };
    throw error;
  }
}

/** No further address is tried after this time: a person waits for the answer. */
const patienceMs = 4_000;

/** Asks at one address after the other, the present ones first, until the member answers at one. */
async function ask(
  { engine, control }: ServedMember,
  record: MemberRecord,
  request: ControlRequest,
): Promise<ControlAnswer> {
  const peer = engine.peers.get(record.id);
  const addresses = [...new Set([...(peer?.hello?.addresses ?? []), ...record.addresses])];
  const { clock, self } = engine.context;
  const untilMs = clock.monotonicMs() + patienceMs;
  const reasons: string[] = [];
  for (const address of addresses) {
    if (clock.monotonicMs() > untilMs) break;
    try {
      return await control.ask(address, record.id, request);
    } catch (error) {
      if (!(error instanceof LockstepError)) throw error;
      // It may have done it: a second request could undo what a person did since.
      if (error.code === 'control-unanswered') {
        throw new LockstepError(error.code, `${record.name} was asked. ${error.message}`);
      }
      reasons.push(asSentence(error.message));
    }
  }
  const why = reasons.length === 0 ? 'It announced no address.' : reasons.join(' ');
  throw new LockstepError(
    'unreachable',
    `${record.name} could not be asked from ${self.name}. ${why} Use the page or the commands of ${record.name} itself.`,
  );
}

function refusalOf({ code, message, version }: Extract<ControlAnswer, { refused: unknown }>['refused']): Error {
  const known = knownCodes.safeParse(code).data ?? 'request-invalid';
  return new HttpError(statuses[code] ?? (known === 'request-invalid' ? 400 : 409), { code: known, message, version });
}
