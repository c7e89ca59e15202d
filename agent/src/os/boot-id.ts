import { readFileSync } from 'node:fs';

/** The name that the kernel gave this run of the machine; undefined if it gives none. */
export function bootId(): string | undefined {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim() || undefined;
  } catch {
    return undefined;
  }
}
