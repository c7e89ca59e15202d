import { LockstepError, type MemberId } from '@lockstep/shared';
import { type ControlAnswer, type ControlLevel, type ControlRequest, controlLevels } from '@lockstep/shared/api';
import { HttpError } from '../../errors.ts';
import type { ServedMember } from '../../served-member.ts';
import { pauseMember, resumeMember, retryAll } from './own-member.ts';
import { changeSetting } from './settings.ts';

/** The level of control that each request needs. */
const needed: Readonly<Record<ControlRequest['do'], ControlLevel>> = {
  look: 'none',
  pause: 'pause',
  resume: 'pause',
  retry: 'pause',
  settings: 'settings',
  change: 'settings',
};

const refusals: Readonly<Record<Exclude<ControlLevel, 'none'>, string>> = {
  pause: 'does not let other members pause, resume or retry it',
  settings: 'does not let other members see or change its settings',
};

/** Does what another member asks this one to do, as far as `allow_control` permits it, and says what became of it. */
export async function answerControl(
  member: ServedMember,
  from: MemberId,
  request: ControlRequest,
): Promise<ControlAnswer> {
  const { log } = member.engine.context;
  const peer = member.engine.peers.nameOf(from);
  try {
    assertAllowed(member, from, request);
    const done = await carryOut(member, peer, request);
    // A warning, so that the log has it at its usual level. Without the value: the log may be kept where others read it.
    if (request.do === 'change') log.warn({ peer, key: request.change.key }, 'a setting was changed by another member');
    else if (request.do !== 'look' && request.do !== 'settings') {
      log.warn({ peer, do: request.do }, 'controlled by another member');
    }
    return { done };
  } catch (error) {
    if (error instanceof HttpError) {
      const { code, message, version } = error;
      return { refused: { code, message, version } };
    }
    if (error instanceof LockstepError) return { refused: { code: error.code, message: error.message } };
    log.error({ peer, do: request.do, error: String(error) }, 'a request of a member failed');
    throw error;
  }
}

function assertAllowed({ engine, control }: ServedMember, from: MemberId, request: ControlRequest): void {
  const { self, journal } = engine.context;
  const record = journal.members.all().find(({ id }) => id === from);
  if (record?.membership !== 'joined') {
    throw new LockstepError(
      'control-refused',
      `${self.name} does nothing for a member that left the cluster or was removed from it. One that left joins again with ` +
        'lockstep up --rejoin; one that was removed is taken back on another member with lockstep remove --undo.',
    );
  }
  const level = needed[request.do];
  if (level === 'none' || controlLevels.indexOf(level) <= controlLevels.indexOf(control.allows)) return;
  throw new LockstepError(
    'control-refused',
    `${self.name} ${refusals[level]}. A person on that machine allows it with allow_control = "${level}" in ` +
      '.lockstep/config.toml, from the next start of its agent on.',
  );
}

function carryOut({ engine, settings, control }: ServedMember, by: string, request: ControlRequest): unknown {
  switch (request.do) {
    case 'look':
      return { allows: control.allows, paused: engine.pause.isOn };
    case 'pause':
      return pauseMember(engine, by);
    case 'resume':
      return resumeMember(engine, by);
    case 'retry':
      return retryAll(engine);
    case 'settings':
      return settings.read();
    case 'change':
      return changeSetting(settings, request.change, request.version);
  }
}
