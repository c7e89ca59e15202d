import { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { expect, onTestFinished, vi } from 'vitest';
import { Access } from '../../src/http/access/access.ts';
import type { ServedMember } from '../../src/http/served-member.ts';
import type { HttpOptions } from '../../src/http/server.ts';
import { buildServer } from '../../src/http/server.ts';
import { contentOfText } from '../../src/sim/disk/content.ts';
import { LiveCluster } from '../../src/sim/live/live-cluster.ts';
import { servedMember } from '../../src/sim/live/served-member.ts';
import type { Machine } from '../../src/sim/world/machine.ts';
import type { Engine } from '../../src/sync/engine.ts';

/** A log that keeps its lines in memory. */
function memoryLog() {
  const lines: { level: string; message: string; fields: object }[] = [];
  const at = (level: string) => (fields: object, message: string) => {
    lines.push({ level, message, fields });
  };
  return { lines, debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}

/** A cluster of simulated members that are all active and connected. The API is that of the first one, `ant`. */
export class ServedCluster {
  readonly cluster: LiveCluster;
  readonly ant: Machine;
  readonly engine: Engine;
  readonly member: ServedMember;
  readonly log = memoryLog();
  readonly access: Access;

  private constructor(cluster: LiveCluster, { ant, engine, access }: { ant: Machine; engine: Engine; access: Access }) {
    this.access = access;
    this.cluster = cluster;
    this.ant = ant;
    this.engine = engine;
    this.member = servedMember(ant, cluster.machines);
  }

  /** It is closed when the test has ended, and no agent may have logged an error until then. */
  static async open(names: readonly string[] = ['ant']): Promise<ServedCluster> {
    const failures: string[] = [];
    const cluster = new LiveCluster({ names, failed: (what) => failures.push(what) });
    onTestFinished(async () => {
      await cluster.close();
      expect(failures).toEqual([]);
    });
    for (const machine of cluster.machines) machine.start();
    await cluster.until(() =>
      cluster.machines.every(
        ({ engine }) => engine?.lifecycle.state === 'active' && engine.peers.ready().length === names.length - 1,
      ),
    );
    const ant = cluster.machine('ant');
    if (ant.engine === undefined) throw new Error('ant does not run');
    const { engine } = ant;
    const log = memoryLog();
    const access = await Access.open({ memberId: ant.id, nowMs: Date.now, log });
    // A request that is injected has no connection: it counts as one through the agent's own socket.
    const isOwn = access.isOwnConnection.bind(access);
    vi.spyOn(access, 'isOwnConnection').mockImplementation((socket) => !(socket instanceof Socket) || isOwn(socket));
    return new ServedCluster(cluster, { ant, engine, access });
  }

  /** bee holds everything that ant has; cat has been down for a moment, and lacks four operations. */
  static async openThree(): Promise<ServedCluster> {
    const served = await ServedCluster.open(['ant', 'bee', 'cat']);
    await served.losePower('cat');
    await served.write('a\n%/b/1.txt', 'one');
    await served.write('x%', 'two');
    const { scheduler } = served.cluster;
    // Makes the latest changes durable.
    await scheduler.run(scheduler.nowMs + 2_000);
    return served;
  }

  /** The parts of a server of ant's API. */
  get options(): HttpOptions {
    return {
      member: this.member,
      access: this.access,
      log: this.log,
      assets: '/nowhere',
      listen: { host: '127.0.0.1', port: 0 },
    };
  }

  /** The headers of a browser that is logged in. */
  get cookie(): { readonly cookie: string } {
    const { searchParams } = new URL(this.access.loginLink('http://localhost/').url);
    const given = this.access.logIn(searchParams.get('token') ?? '') ?? '';
    return { cookie: given.split(';')[0] ?? '' };
  }

  /** The server without a socket, closed when the test has ended. */
  async server(options: Partial<HttpOptions> = {}): Promise<FastifyInstance> {
    const app = await buildServer({ ...this.options, ...options });
    onTestFinished(() => app.close());
    return app;
  }

  /** Writes a file into ant's folder, and waits until all members that are up have it. */
  async write(path: string, text: string): Promise<void> {
    const user = this.cluster.user('ant');
    const parent = path.slice(0, Math.max(0, path.lastIndexOf('/')));
    if (parent !== '') user.makeDirectories(parent);
    user.write(path, text, contentOfText(text));
    await this.settled();
  }

  /** Resolves when all running agents hold what is on ant's disk. */
  async settled(): Promise<void> {
    const { engine, cluster } = this;
    const digest = (machine: Machine): string => machine.journal.totals.digest();
    await cluster.scheduler.run(cluster.scheduler.nowMs + 100);
    await cluster.until(
      () =>
        engine.localChanges.unsettled === 0 &&
        cluster.machines.every(
          (machine) =>
            !machine.isRunning ||
            (digest(machine) === digest(this.ant) && machine.journal.totals.counts().pending === 0),
        ),
    );
  }

  /** Cuts the power of a machine; resolves when ant considers it down. */
  async losePower(name: string): Promise<void> {
    const machine = this.cluster.machine(name);
    machine.crash(false);
    await this.cluster.until(() => this.engine.peers.get(machine.id)?.state === 'down');
  }
}
