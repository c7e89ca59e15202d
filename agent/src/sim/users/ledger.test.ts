import { describe, expect, test } from 'vitest';
import { Story } from '../base/story.ts';
import { contentOfText } from '../disk/content.ts';
import { Disk } from '../disk/disk.ts';
import { Ledger } from './ledger.ts';
import { UserShell } from './user-shell.ts';

/** Two users with their own disks and one ledger. */
function users() {
  const ledger = new Ledger();
  const story = new Story(false, () => 0);
  const shell = (name: string) => new UserShell({ name, disk: new Disk({ wallMs: () => 0 }), ledger, story });
  return { ledger, ant: shell('ant'), bee: shell('bee') };
}

const content = (name: string) => contentOfText(`${name} it is`);
const owedNames = (ledger: Ledger) => ledger.owed().map(({ name }) => name);

describe('Ledger', () => {
  type Shells = ReturnType<typeof users>;
  /** `ant` has v1 at a/file, and bee's disk shows it. */
  const cases: [what: string, act: (shells: Shells) => void, owed: string[]][] = [
    ['nothing more happens', () => {}, ['v1']],
    ['a user overwrites it', ({ bee }) => bee.write('a/file', 'v2', content('v2')), ['v2']],
    ['a user empties it', ({ bee }) => bee.write('a/file', 'empty', contentOfText('')), []],
    ['a user deletes it', ({ bee }) => bee.remove('a/file'), []],
    ['a user removes the directory', ({ bee }) => bee.removeTree('a'), []],
    ['a user renames it', ({ ant }) => ant.rename('a/file', 'b'), ['v1']],
    ['a user renames the directory', ({ ant }) => ant.rename('a', 'b'), ['v1']],
    ['a user renames another file over it', overwriteByRename, ['v2']],
    ['two users overwrite it concurrently', overwriteTwice, ['v2', 'v3']],
    ['a user deletes it and writes it again', ({ ant }) => deleteAndWrite(ant), ['v1']],
    ['a user moves it out and in again', ({ ant }) => ant.moveIn('a', ant.moveOut('a')), ['v1']],
    [
      'a user moves it out, and in under another name, and overwrites a copy meanwhile',
      ({ ant }) => overwriteCopyMeanwhile(ant, 'c'),
      ['v1', 'v2'],
    ],
    // No agent can notice that it was away.
    [
      'a user moves it out and in again, and overwrites a copy meanwhile',
      ({ ant }) => overwriteCopyMeanwhile(ant, 'a'),
      ['v2'],
    ],
    [
      'a user moves it out and in again, and a power cut undoes the latter',
      ({ ant, ledger }) => {
        ant.moveIn('a', ant.moveOut('a'));
        ledger.tookBack('ant', new Set());
      },
      [],
    ],
    ['one user writes it again, and another has deleted it', ({ ant, bee }) => deleteBoth(ant, bee), []],
  ];
  test.each(cases)('owed values after: %s', (_, act, owed) => {
    const shells = users();
    shells.ant.makeDirectories('a');
    shells.ant.write('a/file', 'v1', content('v1'));
    shells.bee.disk.mkdir('a');
    shells.bee.disk.write('a/file', content('v1'));
    act(shells);
    expect(owedNames(shells.ledger)).toEqual(owed);
  });

  function overwriteByRename({ ant }: Shells): void {
    ant.write('b', 'v2', content('v2'));
    ant.rename('b', 'a/file');
  }

  function overwriteTwice({ ant, bee }: Shells): void {
    ant.write('a/file', 'v2', content('v2'));
    bee.write('a/file', 'v3', content('v3'));
  }

  function deleteAndWrite(shell: UserShell): void {
    shell.remove('a/file');
    shell.write('a/file', 'v1', content('v1'));
  }

  function deleteBoth(ant: UserShell, bee: UserShell): void {
    bee.remove('a/file');
    deleteAndWrite(ant);
  }

  function overwriteCopyMeanwhile(shell: UserShell, backAs: string): void {
    shell.copy('a/file', 'b');
    const outside = shell.moveOut('a');
    shell.write('b', 'v2', content('v2'));
    shell.moveIn(backAs, outside);
  }

  test('a value may follow a directory out of the folder that was moved before the value arrived', () => {
    const { ledger, ant, bee } = users();
    ant.makeDirectories('a');
    ant.write('a/file', 'v1', content('v1'));
    bee.disk.mkdir('a');
    bee.moveOut('a');
    expect(owedNames(ledger)).toEqual([]);
  });

  test('a deleted value may stay where its directory was renamed before the value arrived', () => {
    const { ledger, ant, bee } = users();
    ant.makeDirectories('a');
    ant.write('a/file', 'v1', content('v1'));
    ant.removeForGood('a/file');
    expect(ledger.isGone(content('v1').id)).toBe(true);
    bee.disk.mkdir('a');
    bee.rename('a', 'b');
    expect(ledger.isGone(content('v1').id)).toBe(false);
  });

  test('a value is released by a user until that user brings it back', () => {
    const { ledger, ant } = users();
    const { id } = content('v1');
    ant.write('file', 'v1', content('v1'));
    ant.copy('file', 'copy');
    expect(ledger.releasedBy('ant')).not.toContain(id);
    ant.write('file', 'v2', content('v2'));
    expect(ledger.releasedBy('ant')).toContain(id);
    expect(ledger.releasedBy('bee')).not.toContain(id);
    ant.rename('copy', 'other');
    expect(ledger.releasedBy('ant')).not.toContain(id);
  });

  test.each(['copyLost', 'deletedAgain'] as const)(
    'a value that is %s is owed, and may be in the history alone',
    (how) => {
      const { ledger, ant } = users();
      for (const name of ['v1', 'v2']) ant.write(name, name, content(name));
      ledger[how](content('v1').id);
      expect(owedNames(ledger)).toEqual(['v1', 'v2']);
      expect(['v1', 'v2'].map((name) => ledger.mayBeInHistory(content(name).id))).toEqual([true, false]);
    },
  );

  test('has exactly the contents that a user wrote', () => {
    const { ledger, ant } = users();
    ant.write('file', 'v1', content('v1'));
    expect(ledger.isWritten(content('v1'))).toBe(true);
    expect(ledger.isWritten(content('v2'))).toBe(false);
    expect(ledger.isWritten(contentOfText(''))).toBe(true);
  });
});
