/** The text of `lockstep help COMMAND` and the manual page in addition to the list of options. */
export interface CommandHelp {
  /** Paragraphs that a person should read before using the command. */
  readonly details?: readonly string[];
  readonly examples: readonly (readonly [line: string, what: string])[];
  /** The meaning of the exit codes 0 and 1, if it is more than done and not done. */
  readonly exit?: { readonly done: string; readonly notDone: string };
}

/** The help by the command's name. A test compares it with the commands, and the examples with their options. */
export const commandHelp: Readonly<Record<string, CommandHelp>> = {
  init: {
    details: [
      'Makes DIR if it does not exist, and DIR/.lockstep with an identity, the cluster key, config.toml and room for the journal. The files in DIR stay as they are: ' +
        'equal ones are adopted, and if another member has other content under the same name, both are kept.',
      'The first member of a cluster makes the key. Copy .lockstep/cluster.key to every other machine over a channel that you trust: ' +
        'anyone who has it can join.',
    ],
    examples: [
      ['lockstep init ~/shared', 'the first machine'],
      ['lockstep init ~/shared --cluster-key-file cluster.key --peer ant:4700', 'each further machine'],
    ],
  },
  up: {
    details: [
      'Prints the addresses, what it does, and "ready" once this member is in sync with the others. Stops cleanly at SIGINT and SIGTERM, and recovers ' +
        'from a crash at the next start. The log goes to the standard error: lines for people on a terminal, otherwise JSON.',
      'An option overrides the environment, and the environment overrides config.toml.',
    ],
    examples: [
      ['lockstep up ~/shared', 'run the agent of that folder until Ctrl-C'],
      ['lockstep up --log-level info', 'of the folder that contains this directory, with a longer log'],
      ['lockstep up --rejoin ~/shared', 'join again after lockstep leave'],
    ],
    exit: {
      done: 'it was stopped cleanly',
      notDone: 'it could not start, or could not continue: the last line says why',
    },
  },
  status: {
    examples: [
      ['lockstep status', 'of the folder that contains this directory'],
      ['lockstep status ~/shared --json', 'for scripts; .synchronised is true when all members are in sync'],
    ],
    exit: { done: 'the answer was printed', notDone: 'no agent runs, or it does not answer' },
  },
  members: {
    examples: [['lockstep members ~/shared', 'the members, their round trips and their lag']],
    exit: { done: 'the answer was printed', notDone: 'no agent runs, or it does not answer' },
  },
  transfers: {
    details: [
      'On a terminal it shows a bar for each file, until nothing is on its way; elsewhere, and with --once, it prints once.',
    ],
    examples: [
      ['lockstep transfers', 'what is on its way to and from this member, until nothing is'],
      ['lockstep transfers --once ~/shared', 'the same, once'],
    ],
    exit: { done: 'the answer was printed', notDone: 'no agent runs, or it does not answer' },
  },
  limit: {
    details: [
      'A rule is a rate, then the hours of the local day at which it holds, then the member that it limits; hours and member can be left out. ' +
        'A rule without a member limits all members together. Of several rules that hold, the lowest binds.',
      'Hours may cross midnight, as 22:00-06:00, and end at 24:00. Files up to 64 KiB are not limited. A change takes effect at once and is ' +
        'written to config.toml.',
    ],
    examples: [
      ['lockstep limit', 'the limits now and later today'],
      ['lockstep limit --send "10 MiB/s, 2 MiB/s 08:00-18:00"', 'leave room on the line during work'],
      ['lockstep limit --send "1 MiB/s cat"', 'send no faster to the member cat; the others are not limited'],
      ['lockstep limit --receive none ~/shared', 'receive without a limit'],
      ['lockstep limit --member bee --send "1 MiB/s"', 'limit another member, which allows it'],
    ],
    exit: { done: 'printed, and changed if asked', notDone: 'nothing was changed: the last line says why' },
  },
  log: {
    details: ['Also works without a running agent: then the journal is read directly.'],
    examples: [
      ['lockstep log -n 20', 'the last twenty operations'],
      ['lockstep log --path src --follow', 'operations below src as they are journaled'],
    ],
  },
  why: {
    examples: [
      ['lockstep why notes/todo.txt', 'its versions, the members that have it, what it waits for'],
      ['lockstep why src ~/shared', 'a path in the folder of another directory'],
    ],
  },
  history: {
    details: [
      'Each version has a name, which restore takes. Its content is in this folder, in the history here, or on other members, which are asked.',
    ],
    examples: [
      ['lockstep history notes/todo.txt', 'its versions: when, by whom, how large, and who has them'],
      ['lockstep history notes/todo.txt ~/shared --json', 'for scripts'],
    ],
    exit: { done: 'the versions were printed', notDone: 'none is known, or no agent answers' },
  },
  restore: {
    details: [
      'Without --at and --version: the version before the current one, or the last one of a deleted file. The others get it like any other ' +
        'change, and what it replaces is kept in the history. A content that this disk no longer has is fetched from another member.',
    ],
    examples: [
      ['lockstep restore notes/todo.txt', 'undo the last change, or the deletion'],
      ['lockstep restore notes/todo.txt --at "2026-11-21 07:12:03"', 'as it was then (UTC)'],
      ['lockstep restore notes/todo.txt --at 2h', 'as it was two hours ago'],
      ['lockstep restore notes/todo.txt --version ant:17', 'that version of the list of lockstep history'],
      ['lockstep restore notes', 'a deleted directory, with what was deleted with it'],
      ['lockstep restore notes --at 1d', 'what was deleted in a directory since then; the rest stays as it is'],
    ],
    exit: { done: 'the version is in the folder', notDone: 'nothing was changed: the last line says why' },
  },
  wait: {
    details: [
      'Durable means: on the disk, and still there after a power cut. Members that are down count, so "all" waits for them. A wait that ' +
        'cannot end is refused at once.',
    ],
    examples: [
      ['lockstep wait --for majority', 'before this machine is switched off'],
      ['lockstep wait ~/shared', 'everything in the folder of another directory'],
      ['lockstep wait report.pdf --for all --timeout 300', 'one file, on all members, within five minutes'],
      ['lockstep wait --for 2 && rm ~/copy.tar', 'remove a file only once its copy is safe'],
    ],
    exit: { done: 'it is durable', notDone: 'it is not: the paths, members and reasons are printed' },
  },
  replay: {
    details: ['Takes each content from this disk, its history or another member. The folder itself is not changed.'],
    examples: [['lockstep replay ~/shared --into /tmp/rebuilt', 'the folder as the journal says it is']],
    exit: { done: 'everything was rebuilt', notDone: 'some content is on no reachable member: the paths are printed' },
  },
  verify: {
    details: [
      'Reads every file, and changes nothing. With --repair damaged files are fetched from other members, what was there is kept in ' +
        '.lockstep/history, and heads that do not agree with the log are replaced.',
    ],
    examples: [
      ['lockstep verify ~/shared', 'after errors of a disk, or once a month'],
      ['lockstep verify --repair ~/shared', 'fetch damaged files from the other members'],
    ],
    exit: { done: 'everything agrees', notDone: 'not everything agrees: the differences are printed' },
  },
  dashboard: {
    details: [
      'The link logs one browser in, once, within 10 minutes; it stays logged in for 90 days, also when the agent is started again. Only the ' +
        'user of the agent gets a link. The link is opened with xdg-open if there is a display. While a browser starts, other users of the ' +
        'machine may see its arguments, and with them the link: with --no-open you open it yourself.',
      'From another machine: ssh -L 4800:127.0.0.1:4800 HOST, and open the link there.',
      'lockstep dashboard password [DIR] reads a password of at least 12 characters from the terminal or the standard input and sets it: an ' +
        'address of the dashboard other than loopback needs one, and a certificate (dashboard_certificate and dashboard_key in config.toml).',
      'lockstep dashboard sessions [DIR] prints the browsers that are logged in. lockstep dashboard end SESSION [DIR] logs one out, and with ' +
        '--all instead of a session all of them. The same list is on the page: Actions, Logins.',
    ],
    examples: [
      ['lockstep dashboard ~/shared', 'open the dashboard of that member'],
      ['lockstep dashboard --no-open', 'print the link, to open it in another browser'],
      ['lockstep dashboard sessions', 'the browsers that are logged in'],
      ['lockstep dashboard end --all ~/shared', 'log all browsers out'],
    ],
  },
  token: {
    details: [
      'A script sends a token to the address of the dashboard in the header "Authorization: Bearer TOKEN". It needs no browser, and no right ' +
        'to open the folder. A token may read everything, and change what the page can change; with --read-only it changes nothing. Replay, ' +
        "leave, links and tokens stay with the commands of the agent's user.",
      'Pass a token by a file or the environment: other users of a machine see the arguments of its programs.',
    ],
    examples: [
      ['lockstep token add backup --read-only --days 90 > backup.token', 'a token that can read, for 90 days'],
      ['lockstep token list', 'the tokens, and when each was last used'],
      ['lockstep token remove backup', 'cut off what uses it, at once'],
    ],
  },
  doctor: {
    details: [
      'Checks permissions, journal, disk, file system, inotify limits, open files and ports, and whether each other member can be reached, ' +
        'has the key and the right time, and speaks a common version. Changes nothing, and works whether or not the agent runs.',
    ],
    examples: [
      ['lockstep doctor ~/shared', 'when something is wrong, and before the first lockstep up'],
      ['lockstep doctor --json ~/shared', 'for a monitor; .ok is false when something fails'],
    ],
    exit: { done: 'nothing fails; there may be warnings', notDone: 'something fails' },
  },
  mount: {
    details: [
      'Other members get a file that is written there as one version, when the program closes it or calls fsync. Ctrl-C unmounts.',
      'It needs libfuse-dev and fuse3 (docs/MOUNT.md), and the agent must run.',
    ],
    examples: [
      ['lockstep mount ~/shared ~/mounted', 'mount the folder ~/shared at the empty directory ~/mounted'],
      ['lockstep mount /mnt/shared', 'mount the folder of the current directory'],
    ],
    exit: { done: 'it was mounted, and is not any more', notDone: 'it cannot be mounted; the message says why' },
  },
  'accept-mount': {
    details: ['Only for the problem mount-changed. A disk that is mounted again as before needs no command.'],
    examples: [
      ['lockstep accept-mount ~/shared/photos', 'the disk that was there is gone for good, or another one replaces it'],
    ],
  },
  pin: {
    details: [
      'Only on a member with content = "on-demand" in its config.toml. lockstep status shows the pins, and the room of the cache.',
    ],
    examples: [['lockstep pin ~/shared/photos/2026', 'read them on a journey']],
  },
  unpin: { examples: [['lockstep unpin ~/shared/photos/2026', 'they may leave this disk again']] },
  copies: {
    details: [
      'A rule holds in the whole cluster. Members with the whole folder count; what they lack is kept by members on demand, by the room they have.',
      'PATTERN is a line as in .lockstepignore. Of several that match a file, the largest number holds.',
    ],
    examples: [
      ['lockstep copies', 'the rules, and the members that lack copies'],
      ['lockstep copies 2', 'every file on at least two members'],
      ["lockstep copies 1 '*.iso'", 'these on one'],
      ["lockstep copies --remove '*.iso'", 'these as all others'],
    ],
  },
  notify: {
    details: [
      'config.toml says by what people are told (notify_webhook, notify_command), and of what (notify_about, notify_after, notify_free_space).',
      'A person is told once of each cause, and once when it is over.',
    ],
    examples: [
      ['lockstep notify', 'where notices go, and how the last one went'],
      ['lockstep notify --test', 'send one now, and say whether it arrived'],
    ],
    exit: { done: 'shown, or the test arrived', notDone: 'a test did not arrive, or the settings name no target' },
  },
  pause: { examples: [['lockstep pause', 'work undisturbed; changes of the others come after lockstep resume']] },
  resume: { examples: [['lockstep resume', 'end the pause']] },
  leave: {
    details: ['The others no longer count this member. To join again: lockstep up --rejoin.'],
    examples: [['lockstep leave ~/shared', 'before this machine is given away']],
  },
  remove: {
    details: [
      'For a machine that is lost. A member that can be started is retired on its own machine: lockstep leave.',
      'Only a member that is down is removed. If it comes back it is refused, and told how it is taken back.',
    ],
    examples: [
      ['lockstep remove bee', 'the machine of bee is lost'],
      ['lockstep remove --undo bee', 'it was found'],
    ],
  },
  config: {
    examples: [
      ['lockstep config', 'the settings in force, and the source of each'],
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
