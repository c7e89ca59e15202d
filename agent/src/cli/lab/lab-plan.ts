import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { LockstepError } from '@lockstep/shared';
import { z } from 'zod';
import { writeDurably } from '../../member-dir/durable-file.ts';

const names = ['ant', 'bee', 'cat', 'dog', 'elk', 'fox', 'gnu', 'hen', 'ibex', 'jay'] as const;

/** The number of names; a laptop can run that many members. */
export const labMembersMax = names.length;

const membersDefault = 3;
const portBaseDefault = 4800;

/** The offset of an agent's port from its dashboard's, which people type. */
const agentOffset = 100;

/** The highest base at which all ports are legal. */
export const portBaseMax = 65_535 - agentOffset - labMembersMax;

const membersSchema = z.int().min(2).max(labMembersMax);
const planSchema = z.union([
  z.object({ dashboards: z.int().min(1024).max(portBaseMax), members: membersSchema }),
  // The form of earlier versions, which gave the dashboards the higher ports.
  z
    .object({ portBase: z.int().min(1024).max(portBaseMax), members: membersSchema })
    .transform(({ portBase, members }) => ({ dashboards: Math.min(portBase + 100, portBaseMax), members })),
]);

/** The content of `lab/lab.json`, so that the next start uses the same members and ports. */
export type LabPlan = z.infer<typeof planSchema>;

export interface LabMember {
  readonly name: string;
  readonly directory: string;
  readonly listen: string;
  readonly dashboard: string;
  /** The other members' addresses. */
  readonly peers: readonly string[];
}

function planPath(lab: string): string {
  return join(lab, 'lab.json');
}

/** The plan of the lab in the directory `lab`, with the requested changes; the defaults if there is none yet. */
export async function readPlan(lab: string, asked: Partial<LabPlan>): Promise<LabPlan> {
  const text = await readFile(planPath(lab), 'utf8').catch(() => undefined);
  let kept: LabPlan = { dashboards: portBaseDefault, members: membersDefault };
  if (text !== undefined) {
    try {
      kept = planSchema.parse(JSON.parse(text));
    } catch (cause) {
      throw new LockstepError(
        'config-invalid',
        `${planPath(lab)} is damaged. Remove it to use the default ports and members, or start from scratch: npm start -- --fresh`,
        { cause },
      );
    }
  }
  return { dashboards: asked.dashboards ?? kept.dashboards, members: asked.members ?? kept.members };
}

/** Stores the plan for the next start. */
export async function writePlan(lab: string, plan: LabPlan): Promise<void> {
  await writeDurably(planPath(lab), `${JSON.stringify(plan, null, 2)}\n`, 0o644);
}

/** The members of a plan. */
export function labMembers(lab: string, plan: LabPlan): readonly LabMember[] {
  const chosen = names.slice(0, plan.members);
  const listen = (index: number) => `127.0.0.1:${plan.dashboards + agentOffset + index + 1}`;
  return chosen.map((name, index) => ({
    name,
    directory: join(lab, name),
    listen: listen(index),
    dashboard: `127.0.0.1:${plan.dashboards + index + 1}`,
    peers: chosen.flatMap((_other, at) => (at === index ? [] : [listen(at)])),
  }));
}
