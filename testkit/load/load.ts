import { lstatSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { MemberApi } from '../api.ts';
import { eventually } from '../eventually.ts';
import { namesOf, subtree, type Tree } from '../tree.ts';
import { RandomUser, randomFrom, wholeFault, wholePrefix } from './random-user.ts';

/** The interval between checks of the files that are only ever put in place whole. */
const lookMs = 20;

/** The pause of a user between two actions. */
const restMs = { least: 20, most: 100 } as const;

export interface Workplace {
  readonly member: MemberApi;
  /** A directory outside of the folder and on the same file system, for files that are put in place whole. */
  readonly outside: string;
}

/** A random user on each of some members. All work at the same time, whether the agents run or not. */
export class Load {
  readonly #users: readonly RandomUser[];
  readonly #places: readonly Workplace[];
  readonly #room: string;
  readonly #random: () => number;
  #working: Promise<unknown> | undefined;
  #going = false;
  #failure: unknown;
  /** The number of actions of all users so far. */
  actions = 0;

  /** `room`: the directory of the folder that the users work in; if it is empty, the whole folder. */
  constructor(places: readonly Workplace[], room: string, random: () => number) {
    this.#places = places;
    this.#room = room;
    this.#random = random;
    this.#users = places.map(
      ({ member, outside }) =>
        new RandomUser({
          folder: member.path(room),
          name: member.name,
          outside,
          random: randomFrom(random() * 2 ** 32),
        }),
    );
  }

  start(): void {
    for (const { member } of this.#places) mkdirSync(member.path(this.#room), { recursive: true });
    this.#going = true;
    this.#working = Promise.all([...this.#users.map((user) => this.#work(user)), this.#look()]);
  }

  /** Lets all users finish their current action; fails with the first failure of any of them. */
  async stop(): Promise<void> {
    this.#going = false;
    await this.#working;
    if (this.#failure !== undefined) throw this.#failure;
  }

  /** Resolves after this many more actions, however long they take; fails if the users stop acting. */
  async progress(actions: number): Promise<void> {
    const until = this.actions + actions;
    for (let before = this.actions; before < until; before = this.actions) {
      await eventually(
        () => {
          if (this.#failure === undefined && this.actions === before) throw new Error('The users have stopped acting');
        },
        { intervalMs: 5 },
      );
      if (this.#failure !== undefined) throw this.#failure;
    }
  }

  /** The number of written files that no user has overwritten or deleted. */
  get kept(): number {
    return this.#users.reduce((sum, { kept }) => sum + kept.length, 0);
  }

  /** The beginnings of those of these files that are missing in the folder of this member, whose tree is `tree`. */
  lost(member: MemberApi, tree: Tree): readonly string[] {
    const names = namesOf(this.#room === '' ? tree : subtree(tree, this.#room));
    const paths = names.filter((name) => name.startsWith('keep/')).map((name) => member.path(this.#room, name));
    const files = paths.filter((path) => lstatSync(path).isFile());
    const texts = new Set(files.map((path) => readFileSync(path, 'utf8')));
    const lost = this.#users.flatMap(({ kept }) => kept).filter((text) => !texts.has(text));
    return lost.map((text) => text.slice(0, 40));
  }

  /** The names of files that are in the folder with the tree `tree` although users deleted them for good. */
  returned(tree: Tree): readonly string[] {
    const names = new Set(namesOf(this.#room === '' ? tree : subtree(tree, this.#room)));
    return this.#users.flatMap(({ removed }) => removed).filter((name) => names.has(`gone/${name}`));
  }

  /** The names of files that disappeared before their user, who alone deletes them, did so. */
  get vanished(): readonly string[] {
    return this.#users.flatMap(({ vanished }) => vanished);
  }

  /** The number of files that users have deleted for good. */
  get removed(): number {
    return this.#users.reduce((sum, { removed }) => sum + removed.length, 0);
  }

  /** The fault of a file that is only ever put in place whole, on any member now; undefined if there is none. */
  fault(): string | undefined {
    for (const { member } of this.#places) {
      for (const directory of ['', 'a', 'b']) {
        const fault = faultOfWholeFiles(member.path(this.#room, directory));
        if (fault !== undefined) return fault;
      }
    }
    return undefined;
  }

  /** Reads the files meanwhile: a file that was put in place whole must never be visible in part. */
  async #look(): Promise<void> {
    while (this.#going && this.#failure === undefined) {
      const fault = this.fault();
      if (fault !== undefined) this.#failure = new Error(fault);
      await pause(lookMs);
    }
  }

  async #work(user: RandomUser): Promise<void> {
    try {
      while (this.#going && this.#failure === undefined) {
        user.act();
        this.actions += 1;
        await pause(restMs.least + this.#random() * (restMs.most - restMs.least));
      }
    } catch (error) {
      this.#failure ??= error;
    }
  }
}

function faultOfWholeFiles(directory: string): string | undefined {
  let found: string[] = [];
  try {
    found = readdirSync(directory).filter((name) => name.startsWith(wholePrefix));
  } catch {
    // A user has replaced the directory by something else.
  }
  for (const name of found) {
    try {
      const fault = wholeFault(readFileSync(join(directory, name), 'utf8'));
      if (fault !== undefined) return `${join(directory, name)}: ${fault}`;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
  }
  return undefined;
}
