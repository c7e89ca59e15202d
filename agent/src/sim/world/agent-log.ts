import type { Log } from '../../sync/ports/log.ts';
import type { Life } from '../base/life.ts';
import type { Story } from '../base/story.ts';
import type { Volume } from '../disk/volume.ts';

/** The log of a simulated agent: it goes into the story. An error that no fault explains fails the run. */
export function agentLog(options: {
  readonly machine: { readonly name: string; readonly volume: Volume };
  readonly life: Life;
  readonly story: Story;
  readonly failed: (what: string) => void;
}): Log {
  const { machine, life, story, failed } = options;
  const record = (fields: object, message: string): void => {
    if (life.alive) story.add(machine.name, () => `  log: ${message} ${JSON.stringify(fields)}`);
  };
  return {
    debug: record,
    info: record,
    warn: record,
    error: (fields, message) => {
      record(fields, message);
      if (life.alive && !isExpected(machine.volume, fields)) failed(`${message} ${JSON.stringify(fields)}`);
    },
  };
}

/** An error is expected while system calls fail. */
function isExpected({ failures }: Volume, fields: object): boolean {
  return failures !== undefined && JSON.stringify(fields).includes(`DiskError: ${failures.code}`);
}
