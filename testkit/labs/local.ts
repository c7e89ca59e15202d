import { chmod } from 'node:fs/promises';
import { join } from 'node:path';
import type { Usage } from '../api.ts';
import { Cluster } from '../cluster.ts';
import { allConnected, bothApart } from '../level.ts';
import type { LinkShape } from '../link-proxy.ts';
import { LoopDisk, loopDiskLacks } from '../machine/loop-disk.ts';
import { ShiftedClock } from '../machine/shifted-clock.ts';
import { TmpfsDisk } from '../machine/tmpfs-disk.ts';
import { addUnprivileged, isRoot } from '../machine/unprivileged.ts';
import type { Member } from '../member.ts';
import { type Lab, type LabDisk, type LabImage, type LabMember, type Place, patienceMs } from './lab.ts';

/** A lab of agents that are processes of this machine, each with a temporary folder. Their links are proxies in this process. */
class LocalLab implements Lab {
  readonly #cluster: Cluster;
  readonly #disks: TmpfsDisk[] = [];
  readonly #images: LoopDisk[] = [];

  private constructor(cluster: Cluster) {
    this.#cluster = cluster;
  }

  static async open(names: readonly string[]): Promise<LocalLab> {
    return new LocalLab(await Cluster.start(names, { proxied: true }));
  }

  get members(): readonly Member[] {
    return this.#cluster.members;
  }

  member(name: string): Member {
    return this.#cluster.member(name);
  }

  outside(member: LabMember): string {
    return join(this.#cluster.root, `outside-${member.name}`);
  }

  async freeze(member: LabMember): Promise<void> {
    this.member(member.name).signal('SIGSTOP');
  }

  async thaw(member: LabMember): Promise<void> {
    this.member(member.name).signal('SIGCONT');
  }

  async split(groups: readonly (readonly LabMember[])[]): Promise<void> {
    const pairs = groups.flatMap((group, index) =>
      groups.slice(index + 1).flatMap((other) => group.flatMap((a) => other.map((b) => [a, b] as const))),
    );
    for (const [a, b] of pairs) this.#cluster.link(a.name, b.name, 'cut');
    for (const [a, b] of pairs) if (a.running && b.running) await bothApart(a, b, patienceMs);
  }

  async heal(): Promise<void> {
    for (const { name } of this.members) this.#cluster.links(name, 'open');
    await allConnected(this.#cluster.running, patienceMs);
  }

  shape(one: LabMember, other: LabMember, shape: LinkShape): void {
    this.#cluster.shape(one.name, other.name, shape);
  }

  get connections(): number {
    return this.#cluster.connections;
  }

  addNewcomer(name: string): Promise<Member> {
    return this.#cluster.add(name, { start: { ready: false } });
  }

  async addOnDisk(name: string): Promise<{ readonly member: Member; readonly disk: LabDisk }> {
    const disk = await TmpfsDisk.mount(this.#cluster.root, name);
    this.#disks.push(disk);
    const member = await this.#cluster.add(name, { folder: join(disk.mountPoint, name) });
    await this.#cluster.connected();
    return { member, disk };
  }

  async addOnImage(name: string): Promise<{ readonly member: Member; readonly image: LabImage }> {
    const disk = await LoopDisk.make(join(this.#cluster.root, `image-of-${name}`));
    this.#images.push(disk);
    const wrapper = await disk.nextBoot();
    const member = await this.#cluster.add(name, { folder: join(disk.directory, name), start: { wrapper } });
    await this.#cluster.connected();
    const cutPower = async (): Promise<void> => {
      await disk.cutPower(() => member.kill());
      // The same wrapper sees the next boot: it reads the boot id from a file.
      await disk.nextBoot();
    };
    const rot = (paths: readonly string[], marker: string): Promise<void> => {
      const onDisk = paths.map((path) => join(name, path));
      return disk.rot(onDisk, marker);
    };
    return { member, image: { cutPower, rot } };
  }

  async addUnprivileged(
    name: string,
  ): Promise<{ readonly member: Member; setWritable(writable: boolean): Promise<void> }> {
    const member = isRoot ? await addUnprivileged(this.#cluster, name) : await this.#cluster.add(name);
    await this.#cluster.connected();
    return { member, setWritable: (writable) => chmod(member.folder, writable ? 0o700 : 0o500) };
  }

  async addWithClock(name: string): Promise<{ readonly member: Member; setClock(hoursAhead: number): void }> {
    const clock = new ShiftedClock(join(this.#cluster.root, `clock-of-${name}`));
    const member = await this.#cluster.add(name, { start: { env: clock.env } });
    await this.#cluster.connected();
    return { member, setClock: (hours) => clock.set(hours) };
  }

  usage(member: LabMember): Promise<Usage> {
    return this.member(member.name).usage();
  }

  async log(member: LabMember): Promise<readonly string[]> {
    return this.member(member.name).log;
  }

  async close(): Promise<void> {
    await Promise.all(this.members.map((member) => member.kill()));
    for (const disk of this.#disks) await disk.unmount();
    for (const disk of this.#images) await disk.remove();
    await this.#cluster.close();
  }
}

/** The place for scenes on processes of this machine. */
export const localPlace: Place = {
  title: 'processes of this machine',
  lacks: (need) => {
    if (need === 'disk' && !isRoot) return 'It mounts a disk, which only root may do: run it as root.';
    return need === 'image' ? loopDiskLacks : undefined;
  },
  open: (names) => LocalLab.open(names),
};
