import { afterAll, beforeAll, beforeEach } from 'vitest';
import { ComposeProject } from '../../../testkit/containers/compose-project.ts';
import type { ContainerMember } from '../../../testkit/containers/container-member.ts';
import { allConnected } from '../../../testkit/level.ts';
import { becomeOrdinary, type Person } from '../../../testkit/machine/person.ts';

/** The members that `up` starts by default. */
const names = ['ant', 'bee', 'cat'] as const;

/** The lab of docker-compose.yml, and its user. */
export class Lab {
  readonly project: ComposeProject;
  readonly person: Person;
  members: readonly ContainerMember[] = [];

  private constructor(project: ComposeProject, person: Person) {
    this.project = project;
    this.person = person;
  }

  static async open(): Promise<Lab> {
    const person = becomeOrdinary();
    const project = await ComposeProject.make('lockstep-compose', person);
    if (project === undefined) throw new Error('There is no Docker Compose here');
    const lab = new Lab(project, person);
    try {
      await lab.up();
    } catch (error) {
      await project.close();
      throw error;
    }
    return lab;
  }

  /** Resolves when all members answer and are connected. */
  async up(): Promise<void> {
    await this.project.compose('up', '--detach', '--no-build');
    this.members = await Promise.all(names.map((name) => this.project.member(name)));
    for (const member of this.members) await member.answers();
    await allConnected(this.members);
  }

  member(name: (typeof names)[number]): ContainerMember {
    const member = this.members.find((known) => known.name === name);
    if (member === undefined) throw new Error(`${name} was not started`);
    return member;
  }
}

/** Starts one lab for all tests of a file; each test works in a separate directory. Returns a function that gets the lab. */
export function useLab(): () => Lab {
  let lab: Lab | undefined;
  beforeAll(async () => {
    lab = await Lab.open();
  });
  afterAll(() => lab?.project.close());
  beforeEach((context) =>
    context.onTestFailed(async () => {
      for (const member of lab?.members ?? []) {
        console.error(`\n=== output of ${member.name}\n${(await member.log()).slice(-40).join('\n')}`);
      }
    }),
  );
  return () => {
    if (lab === undefined) throw new Error('The lab is there in tests only');
    return lab;
  };
}
