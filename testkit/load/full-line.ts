import { statSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import type { MemberApi } from '../api.ts';

/** The measurements while a large file fills the lines between members. */
export interface FullLine {
  /** The round trips that the writer showed before and during the transfer, one series for each other member, in milliseconds. */
  readonly idleMs: readonly number[];
  readonly loadedMs: readonly (readonly number[])[];
  /** For each file of two bytes, the time from its write until all members showed it. */
  readonly smallMs: readonly number[];
  /** The duration of the transfer. */
  readonly transferMs: number;
  /** Codes of all problems that any member reported meanwhile. */
  readonly problems: readonly string[];
}

const small = 'ok';
/** The time between two small files. */
const spacingMs = 1_000;
/** A round trip counts from this time after the start of the transfer: the value shown is a mean of some seconds. */
const settleMs = 10_000;

const roundTrips = async (writer: MemberApi, others: readonly MemberApi[]): Promise<readonly number[]> => {
  const { members } = await writer.status();
  return others.map(({ name }) => members.find((seen) => seen.name === name)?.rttMs ?? Number.NaN);
};

/**
 * Writes a file of `bytes` random bytes on `writer`, and until all members have it one file of two bytes a second. The lines between the
 * members must be slow enough for a transfer of half a minute.
 */
export async function fillLine(writer: MemberApi, others: readonly MemberApi[], bytes: number): Promise<FullLine> {
  const idleMs = await roundTrips(writer, others);
  const loadedMs: number[][] = others.map(() => []);
  const smallMs: number[] = [];
  const problems = new Set<string>();
  const isOn = (name: string, size: number) =>
    others.every((member) => statSync(member.path(name), { throwIfNoEntry: false })?.size === size);
  const [film, block] = ['full-line.film', Buffer.alloc(bytes)];
  for (let at = 0; at < bytes; at += 4) block.writeUInt32LE(Math.floor(Math.random() * 2 ** 32), at);
  await writeFile(writer.path(film), block);
  const startMs = performance.now();
  // On a busy machine a part of it may be published while it is still being written.
  const isEverywhere = () => isOn(film, bytes);
  while (!isEverywhere()) {
    const name = `full-line.${smallMs.length}`;
    const atMs = performance.now();
    await writeFile(writer.path(name), small);
    while (!isOn(name, small.length)) await pause(2);
    smallMs.push(performance.now() - atMs);
    for (const member of [writer, ...others]) for (const code of await member.problems()) problems.add(code);
    if (performance.now() - startMs > settleMs && !isEverywhere()) {
      for (const [index, ms] of (await roundTrips(writer, others)).entries()) loadedMs[index]?.push(ms);
    }
    await pause(Math.max(0, spacingMs - (performance.now() - atMs)));
  }
  return { idleMs, loadedMs, smallMs, transferMs: performance.now() - startMs, problems: [...problems] };
}
