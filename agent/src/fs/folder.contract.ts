import { describe } from 'vitest';
import { applyContract } from './apply/apply.contract.ts';
import type { OpenSubject } from './folder-subject.contract.ts';
import { lookContract } from './look.contract.ts';

/** What every folder does, on a disk or in memory. `open` opens an empty one with a user beside the agent. */
export function folderContract(open: OpenSubject): void {
  describe('looking', () => lookContract(open));
  describe('applying', () => applyContract(open));
}
