import { describe, expect, test } from 'vitest';
import type { Config } from '../config/schema.ts';
import { joinRecipe } from './join-recipe.ts';

const machine = { host: 'ant.example.net', home: '/home/me' };

function commands(
  directory: string,
  listen: string,
  port: number,
  addresses: readonly string[] = [],
): readonly string[] {
  const config = { name: 'ant', listen: { host: listen, port }, addresses } as unknown as Config;
  return joinRecipe(directory, config, machine).commands;
}

describe('[CL11] [DB-O8] the commands for another machine are whole', () => {
  test('with the name of this host, and without what is the default', () => {
    expect(commands('/home/me/shared', '0.0.0.0', 4700)).toEqual([
      'scp ant.example.net:/home/me/shared/.lockstep/cluster.key .',
      'lockstep init ~/shared --cluster-key-file cluster.key --peer ant.example.net:4700',
      'lockstep up ~/shared',
    ]);
  });

  test('with the address that the member announces, and a folder outside the home that must be quoted', () => {
    expect(commands('/srv/my data', '0.0.0.0', 5000, ['vpn.example.net:5000'])).toEqual([
      "scp 'ant.example.net:/srv/my data/.lockstep/cluster.key' .",
      "lockstep init '/srv/my data' --cluster-key-file cluster.key --peer vpn.example.net:5000",
      "lockstep up '/srv/my data'",
    ]);
  });

  test('with the port left open where it is not known yet', () => {
    expect(commands('/home/me', '192.0.2.7', 0)[1]).toContain(
      'init /home/me --cluster-key-file cluster.key --peer 192.0.2.7:PORT',
    );
  });

  test('for another member of this machine if no other one reaches the address', () => {
    expect(commands('/tmp/ant', '127.0.0.1', 4701)).toEqual([
      'lockstep init DIR --name NAME --listen 127.0.0.1:0 --dashboard 127.0.0.1:0 --cluster-key-file /tmp/ant/.lockstep/cluster.key --peer 127.0.0.1:4701',
      'lockstep up DIR',
    ]);
  });
});
