import { operationsPageSchema, pageItemsMax, type Status, statusSchema } from '@lockstep/shared';
import { type ApiClient, apiClient } from './api-client.ts';
import type { LabReport } from './lab-narrator.ts';
import type { LabMember } from './lab-plan.ts';

/** Asks one member of the lab how it is and what it has journaled, whoever started its process. */
export class LabFollower {
  readonly #member: LabMember;
  readonly #api: ApiClient;
  /** The newest row seen; undefined until the first answer, whose past is not told. */
  #row: number | undefined;
  #operations = 0;

  constructor(member: LabMember) {
    this.#member = member;
    this.#api = apiClient(`http://${member.dashboard}`);
  }

  /** Undefined while the member does not answer. */
  async report(): Promise<LabReport | undefined> {
    try {
      const status = await this.#api.get('/status', statusSchema);
      // Something else may listen on the port of a member that is down.
      if (status.member.name !== this.#member.name) return undefined;
      return { name: this.#member.name, status, operations: await this.#news(status) };
    } catch {
      return undefined;
    }
  }

  async #news(status: Status): Promise<LabReport['operations']> {
    if (this.#row !== undefined && status.operations === this.#operations) return [];
    this.#operations = status.operations;
    if (this.#row === undefined) {
      const newest = await this.#api.get('/ops?limit=1', operationsPageSchema);
      this.#row = newest.operations[0]?.row ?? 0;
      return [];
    }
    const page = await this.#api.get(`/ops?after=${this.#row}&limit=${pageItemsMax}`, operationsPageSchema);
    this.#row = page.operations.at(-1)?.row ?? this.#row;
    // There is more: the next round must look again even if nothing was added until then.
    if (page.next !== null) this.#operations = -1;
    return page.operations;
  }
}
