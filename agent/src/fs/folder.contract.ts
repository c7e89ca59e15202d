import { describe } from 'vitest';
import { applyContract } from './apply/apply.contract.ts';
import { blockCopiesContract } from './block-copies.contract.ts';
import { draftsContract } from './drafts.contract.ts';
import type { OpenSubject } from './folder-subject.contract.ts';
import { observeContract } from './observe.contract.ts';

/** The contract of the folder port, on a disk or in memory. `open` opens an empty folder with a user next to the agent. */
export function folderContract(open: OpenSubject): void {
  describe('observing', () => observeContract(open));
  describe('applying', () => applyContract(open));
  describe('drafts', () => draftsContract(open));
  describe('blocks that are here already', () => blockCopiesContract(open));
}
