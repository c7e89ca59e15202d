import { homedir, hostname } from 'node:os';
import { isAbsolute, join, relative } from 'node:path';
import { formatHostPort, isAnyHost } from '@lockstep/shared';
import type { JoinRecipe } from '@lockstep/shared/api';
import type { Config } from '../config/schema.ts';
import { shellWord } from '../os/shell-word.ts';
import { clusterKeyPath } from './state-directory.ts';

/** The facts about this machine that the commands contain. */
export interface Machine {
  readonly host: string;
  readonly home: string;
}

/** This machine. */
export function thisMachine(): Machine {
  return { host: hostname(), home: homedir() };
}

/** `directory` as a word of a command that holds for the same user on another machine, too: `~/shared`. */
function portableWord(directory: string, { home }: Machine): string {
  const inside = relative(home, directory);
  if (inside === '' || inside.startsWith('..') || isAbsolute(inside)) return shellWord(directory);
  return `~/${shellWord(inside)}`;
}

/** The address at which other members reach this one, as far as the settings say. A port that is free to choose has no number yet. */
function peerAddress({ addresses: [given], listen }: Config, { host }: Machine): string {
  if (given !== undefined) return given;
  const address = formatHostPort({ host: isAnyHost(listen.host) ? host : listen.host, port: listen.port });
  return listen.port === 0 ? address.replace(/0$/, 'PORT') : address;
}

/** How another machine joins the cluster of the member in `directory`: a sentence, and the commands to run there. */
export function joinRecipe(directory: string, config: Config, machine: Machine): JoinRecipe {
  const address = peerAddress(config, machine);
  if (/^(127\.|localhost:|\[::1\])/.test(address)) {
    const key = shellWord(clusterKeyPath(directory));
    return {
      lead:
        `${config.name} listens on ${config.listen.host}, which no other machine reaches. To add another member on this machine, ` +
        'in a folder DIR:',
      commands: [
        `lockstep init DIR --name NAME --listen 127.0.0.1:0 --dashboard 127.0.0.1:0 --cluster-key-file ${key} --peer ${address}`,
        'lockstep up DIR',
      ],
    };
  }
  const folder = portableWord(directory, machine);
  const key = join(directory, '.lockstep', 'cluster.key');
  return {
    lead: 'To add another machine, run there (the key is like a password: copy it by a way that you trust):',
    commands: [
      `scp ${shellWord(`${machine.host}:${key}`)} .`,
      `lockstep init ${folder} --cluster-key-file cluster.key --peer ${address}`,
      `lockstep up ${folder}`,
    ],
  };
}
