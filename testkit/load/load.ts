import { lstatSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { MemberApi } from '../api.ts';
import { eventually } from '../eventually.ts';
import { namesOf, subtree, type Tree } from '../tree.ts';
import { RandomUser, randomFrom, wholeFault, wholePrefix } from './random-user.ts';

/** How often somebody looks at the files that are only ever put in place whole. */
const lookMs = 20;

/** How long a user rests between two actions. */
const restMs = { least: 20, most: 100 } as const;

export interface Workplace {
  readonly member: MemberApi;
  /** A directory on the same file system and outside of the folder, for what is saved whole. */
  readonly outside: string;
}

/** A random user on each of some members, all at work at the same time, whether the agents run or not. */
export class Load {
  readonly #users: readonly RandomUser[];
  readonly #places: readonly Workplace[];
  readonly #room: string;
  readonly #random: () => number;
  #working: Promise<unknown> | undefined;
  #going = false;
  #failure: unknown;
  /** What all users have done so far. */
  actions = 0;

  /** `room`: the directory of the folder that they work in; the whole folder when it is empty. */
  constructor(places: readonly Workplace[], room: string, random: () => number) {
    this.#places = places;
    this.#room = room;
    this.#random = random;
    this.#users = places.map(
      ({ member, outside }) => new RandomUser(member.path(room), member.name, outside, randomFrom(random() * 2 ** 32)),
    );
  }

  start(): void {
    for (const { member } of this.#places) mkdirSync(member.path(this.#room), { recursive: true });
    this.#going = true;
    this.#working = Promise.all([...this.#users.map((user) => this.#work(user)), this.#look()]);
  }

  /** Lets all of them finish what they do; fails as the first of them did. */
  async stop(): Promise<void> {
    this.#going = false;
    await this.#working;
    if (this.#failure !== undefined) throw this.#failure;
  }

  /** Resolves when so many more things were done, however long that takes; fails when nothing is done any more. */
  async progress(actions: number): Promise<void> {
    const until = this.actions + actions;
    for (let before = this.actions; before < until; before = this.actions) {
      await eventually(
        () => {
          if (this.#failure === undefined && this.actions === before) throw new Error('The users do nothing any more');
        },
        { intervalMs: 5 },
      );
      if (this.#failure !== undefined) throw this.#failure;
    }
  }

  /** How many files were written that nobody has overwritten or deleted. */
  get kept(): number {
    return this.#users.reduce((sum, { kept }) => sum + kept.length, 0);
  }

  /** The beginnings of those of them that are not in the folder of this member, whose tree is `tree`. */
  lost(member: MemberApi, tree: Tree): readonly string[] {
    const names = namesOf(this.#room === '' ? tree : subtree(tree, this.#room));
    const paths = names.filter((name) => name.startsWith('keep/')).map((name) => member.path(this.#room, name));
    const files = paths.filter((path) => lstatSync(path).isFile());
    const texts = new Set(files.map((path) => readFileSync(path, 'utf8')));
    const lost = this.#users.flatMap(({ kept }) => kept).filter((text) => !texts.has(text));
    return lost.map((text) => text.slice(0, 40));
  }

  /** What users deleted for good and is in the folder, whose tree is `tree`, all the same. */
  returned(tree: Tree): readonly string[] {
    const names = new Set(namesOf(this.#room === '' ? tree : subtree(tree, this.#room)));
    return this.#users.flatMap(({ removed }) => removed).filter((name) => names.has(`gone/${name}`));
  }

  /** What only its user deletes, and was gone before that. */
  get vanished(): readonly string[] {
    return this.#users.flatMap(({ vanished }) => vanished);
  }

  /** How many files their users have deleted for good. */
  get removed(): number {
    return this.#users.reduce((sum, { removed }) => sum + removed.length, 0);
  }

  /** What is wrong with a file that is only ever put in place whole, as any member shows it now. */
  fault(): string | undefined {
    for (const { member } of this.#places) {
      for (const directory of ['', 'a', 'b']) {
        const fault = faultOfWholeFiles(member.path(this.#room, directory));
        if (fault !== undefined) return fault;
      }
    }
    return undefined;
  }

  /** Somebody who reads what is there meanwhile: nowhere is a file in part that was put in place whole. */
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
    // A user put something else there.
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
