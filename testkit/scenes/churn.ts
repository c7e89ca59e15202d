import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { Faults } from '../load/faults.ts';
import { ProgramLoad } from '../load/program-load.ts';
import { installedPrograms } from '../load/programs.ts';
import { compare } from './compare.ts';
import { type Sample, slopePerHour } from './slope.ts';
import type { Scene } from './stage.ts';
import { loadRoom, startLoad } from './users.ts';

/** The number of phases. Each ends with a comparison and removes the users' files, so that the folder does not grow. */
const phases = 6;

/** The maximum growth in an hour. In a run shorter than `judgedFromMs` the slopes mean nothing, and are only reported. */
const slopeMax = { memoryMiB: 60, descriptors: 10 } as const;
const judgedFromMs = 1_800_000;

/** The maximum duration of a fault, and of the pause before the next. */
const faultMsMax = { judged: 4_000, short: 1_500 } as const;

export const churn: Scene = {
  name: 'churn',
  title: 'five members, random faults, careless users and real programs; memory and descriptors stay flat',
  async run(stage) {
    const lab = await stage.open(['ant', 'bee', 'cat', 'dog', 'elk']);
    const measured = lab.member('ant');
    const { there, missing } = installedPrograms();
    if (missing.length > 0) {
      stage.did(
        `left out ${missing.join(', ')}, not installed here (on Debian: apt-get install -y ${missing.join(' ')})`,
      );
    }
    const isJudged = stage.churnMs >= judgedFromMs;
    // The measured member must not be restarted meanwhile.
    const victims = isJudged ? lab.members.filter((member) => member !== measured) : lab.members;
    const programs = await ProgramLoad.prepare(lab, there);
    const memory: Sample[] = [];
    const descriptors: Sample[] = [];
    const count = stage.short ? 2 : phases * Math.max(1, Math.round(stage.churnMs / 600_000));
    for (let phase = 1; phase <= count; phase++) {
      const load = startLoad(stage, lab);
      const faults = new Faults(lab, {
        victims,
        waitMsMax: isJudged ? faultMsMax.judged : faultMsMax.short,
        random: stage.random,
      });
      programs.start();
      stage.whenInterrupted(() => Promise.all([programs.stop(), faults.stop()]));
      await pause(stage.churnMs / count);
      await Promise.all([programs.stop(), faults.stop(), load.stop()]);
      const hurt = [...faults.counts].map(([name, times]) => `${times} ${name}`).join(', ');
      stage.did(`phase ${phase} of ${count}: ${load.actions} actions; members ${hurt}; rounds of ${programs.rounds}`);
      await compare(stage, lab, load);
      await programs.check();
      stage.saw('the results of the programs are unchanged on every member');
      rmSync(measured.path(loadRoom), { recursive: true });
      await compare(stage, lab);
      const { memoryMiB, descriptors: open } = await lab.usage(measured);
      memory.push({ atMs: performance.now(), value: memoryMiB });
      descriptors.push({ atMs: performance.now(), value: open });
      stage.saw(`ant uses ${memoryMiB.toFixed(0)} MiB and ${open} descriptors`);
    }
    // The first third is the warm-up: caches fill, and the young generation grows to its size.
    const warm = (samples: readonly Sample[]): readonly Sample[] => samples.slice(Math.floor(samples.length / 3));
    const slopes = { memoryMiB: slopePerHour(warm(memory)), descriptors: slopePerHour(warm(descriptors)) };
    stage.saw(
      `slopes of ant: ${slopes.memoryMiB.toFixed(1)} MiB and ${slopes.descriptors.toFixed(1)} descriptors an hour` +
        (isJudged ? '' : ' (not judged: it takes at least half an hour to distinguish growth from warm-up)'),
    );
    if (!isJudged) return;
    for (const key of ['memoryMiB', 'descriptors'] as const) {
      assert.ok(
        slopes[key] <= slopeMax[key],
        `${key} grow by ${slopes[key].toFixed(1)} an hour, more than ${slopeMax[key]}`,
      );
    }
  },
};
