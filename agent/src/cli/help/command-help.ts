/** What `lockstep help COMMAND` and the man page say beyond the list of options. */
export interface CommandHelp {
  /** Paragraphs: what a person must know before using it. */
  readonly details?: readonly string[];
  readonly examples: readonly (readonly [line: string, what: string])[];
  /** What the exit codes 0 and 1 mean here, where that is more than done and not done. */
  readonly exit?: { readonly done: string; readonly notDone: string };
}

/** By the command's name. A test holds this to the commands that there are, and the examples to their options. */
export const commandHelp: Readonly<Record<string, CommandHelp>> = {
  init: {
    details: [
      'Makes DIR/.lockstep with an identity, the cluster key, config.toml and room for the journal. The files in DIR stay as they are: ' +
        'equal ones are adopted, and where another member has other content under the same name, both are kept.',
      'The first member of a cluster makes the key. Copy .lockstep/cluster.key to every further machine over a way that you trust: ' +
        'who has it is a member.',
    ],
    examples: [
      ['lockstep init ~/shared --name ant', 'the first machine'],
      ['lockstep init ~/shared --name bee --cluster-key-file ant.key --peer ant:4700', 'the next one'],
    ],
  },
  up: {
    details: [
      'Prints the addresses, and "ready" once this member is level with the others. It ends in order at SIGINT and SIGTERM, and starts ' +
        'again after a crash as if nothing had been. The log goes to the standard error, one line of JSON for each entry.',
      'An option wins over the environment, and that over config.toml.',
    ],
    examples: [
      ['lockstep up ~/shared', 'run the agent of that folder until Ctrl-C'],
      ['lockstep up --log-level info', 'of the folder that this directory lies in, with more to read'],
      ['lockstep up --rejoin ~/shared', 'take part again after lockstep leave'],
    ],
    exit: {
      done: 'it was stopped in order',
      notDone: 'it could not start, or could not go on: the last line says why',
    },
  },
  status: {
    examples: [
      ['lockstep status', 'of the folder that this directory lies in'],
      ['lockstep status ~/shared --json', 'for scripts; .synchronised is true when everything is everywhere'],
    ],
    exit: { done: 'printed, whatever it says', notDone: 'no agent runs, or it does not answer' },
  },
  members: {
    examples: [['lockstep members ~/shared', 'who is there, how far away, how far behind']],
    exit: { done: 'printed, whatever it says', notDone: 'no agent runs, or it does not answer' },
  },
  log: {
    details: ['Works without a running agent too: then the journal is read directly.'],
    examples: [
      ['lockstep log -n 20', 'the last twenty operations'],
      ['lockstep log --path src --follow', 'what happens below src, as it happens'],
    ],
  },
  why: {
    examples: [
      ['lockstep why notes/todo.txt', 'which versions there are, who has them, what this one waits for'],
      ['lockstep why src -C ~/shared', 'a path in the folder of another directory'],
    ],
  },
  wait: {
    details: [
      'Durable means: on the disk, and still there after a power cut. Members that are down count, so "all" waits for them. A wait that ' +
        'cannot end is refused at once.',
    ],
    examples: [
      ['lockstep wait --for majority', 'before this machine is switched off'],
      ['lockstep wait report.pdf --for all --timeout 300', 'one file, everywhere, within five minutes'],
      ['lockstep wait --for 2 && rm ~/copy.tar', 'something that must not come too early'],
    ],
    exit: { done: 'it is durable there', notDone: 'it is not: the paths, members and reasons are printed' },
  },
  replay: {
    details: [
      'Takes each content from wherever it still is: this disk, its history, or another member. Nothing in the folder itself is changed.',
    ],
    examples: [['lockstep replay ~/shared --into /tmp/rebuilt', 'the folder as the journal says it is']],
    exit: { done: 'everything is there', notDone: 'some content is nowhere to be had: the paths are printed' },
  },
  verify: {
    details: [
      'Reads every file, and changes nothing. With --repair damaged files are fetched from other members, what was there is kept in ' +
        '.lockstep/history, and heads that do not agree with the log are replaced.',
    ],
    examples: [
      ['lockstep verify ~/shared', 'after a disk had errors, or once a month'],
      ['lockstep verify --repair ~/shared', 'fetch what is damaged from the other members'],
    ],
    exit: { done: 'everything agrees', notDone: 'something does not: it is printed' },
  },
  doctor: {
    details: [
      'Looks at permissions, journal, disk, file system, inotify limits, open files, ports, and whether each other member can be reached, ' +
        'knows the key, has the right time and speaks the same. Changes nothing, and works whether or not the agent runs.',
    ],
    examples: [
      ['lockstep doctor ~/shared', 'when something is wrong, and before the first lockstep up'],
      ['lockstep doctor --json ~/shared', 'for a monitor; .ok is false when something fails'],
    ],
    exit: { done: 'nothing fails; there may be warnings', notDone: 'something fails' },
  },
  'accept-mount': {
    details: ['For the problem mount-changed alone. A disk that is mounted again as before needs no command.'],
    examples: [
      [
        'lockstep accept-mount ~/shared/photos',
        'the disk that was there is gone for good, or another one takes its place',
      ],
    ],
  },
  pause: { examples: [['lockstep pause', 'work undisturbed; what others do comes after lockstep resume']] },
  resume: { examples: [['lockstep resume', 'take part again']] },
  leave: {
    details: ['The others count this member no longer. To have it back: lockstep up --rejoin.'],
    examples: [['lockstep leave ~/shared', 'before this machine is given away']],
  },
  config: {
    examples: [
      ['lockstep config', 'the settings in force, and where each is from'],
      ['lockstep config --write --name ant --listen 0.0.0.0:4700', 'a new config.toml for a member that lost its own'],
    ],
  },
  completion: {
    examples: [
      [
        'lockstep completion bash > ~/.local/share/bash-completion/completions/lockstep',
        'for bash, with bash-completion',
      ],
      ['lockstep completion zsh > ~/.zfunc/_lockstep', 'for zsh, with ~/.zfunc in fpath before compinit'],
      ['lockstep completion fish > ~/.config/fish/completions/lockstep.fish', 'for fish'],
    ],
  },
};
