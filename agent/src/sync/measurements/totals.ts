import type { Context } from '../state/context.ts';

/** Totals since the start, for the metrics. */
export class Totals {
  operationsMade = 0;
  operationsReceived = 0;
  entriesApplied = 0;
  bytesApplied = 0;
  bytesReused = 0;
  scans = 0;
  conflictCopies = 0;
  contentQuestions = 0;
  falseFilterAnswers = 0;

  constructor({ facts }: Context) {
    facts.made.on((operations) => {
      this.operationsMade += operations.length;
    });
    facts.received.on((operations) => {
      this.operationsReceived += operations.length;
    });
    facts.applied.on(({ entries, bytes }) => {
      this.entriesApplied += entries;
      this.bytesApplied += bytes;
    });
    facts.reused.on((bytes) => {
      this.bytesReused += bytes;
    });
    facts.copied.on(() => {
      this.conflictCopies += 1;
    });
    facts.asked.on(() => {
      this.contentQuestions += 1;
    });
    facts.misled.on(() => {
      this.falseFilterAnswers += 1;
    });
    facts.scanned.on(() => {
      this.scans += 1;
    });
  }
}
