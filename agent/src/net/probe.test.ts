import { SOFTWARE_VERSION } from '@lockstep/shared';
import { describe, expect, test } from 'vitest';
import { ant, bee, clusterKey, openTestNetwork, until } from '../../test/support/networks.ts';
import { createClusterKey } from './keys/cluster-key.ts';
import { probeClock, probeMember } from './probe.ts';

describe('[DR6] the member that listens at an address', () => {
  const timeoutMs = 20_000;
  const asked = { memberId: bee.memberId, software: SOFTWARE_VERSION };

  test('is found without a session, and none is replaced', async () => {
    const listening = await openTestNetwork(bee);
    const dialling = await openTestNetwork(ant);
    const link = await dialling.network.dial(listening.address);
    let closed = false;
    link.start({
      message: () => undefined,
      closed: () => {
        closed = true;
      },
    });
    const options = { address: listening.address, identity: ant, clusterKey, timeoutMs, prove: false };
    expect(await probeMember(options)).toMatchObject(asked);
    // A different key is not noticed: nothing was proved.
    expect(await probeMember({ ...options, clusterKey: createClusterKey() })).toMatchObject(asked);
    expect(listening.links).toHaveLength(1);
    expect(listening.refusals).toEqual([]);
    expect(closed).toBe(false);
  });

  test('proves the key when it is asked to, and the session ends at once', async () => {
    const listening = await openTestNetwork(bee);
    const options = { address: listening.address, identity: ant, clusterKey, timeoutMs, prove: true };
    expect(await probeMember(options)).toMatchObject(asked);
    await until(() => expect(listening.links).toHaveLength(1));
    await expect(probeMember({ ...options, clusterKey: createClusterKey() })).rejects.toMatchObject({
      code: 'cluster-mismatch',
    });
  });

  test('has a clock that can be read, and a closed port has none', async () => {
    const listening = await openTestNetwork(bee);
    const at = await probeClock(listening.address, ant, timeoutMs);
    expect(Math.abs((at ?? 0) - Date.now())).toBeLessThan(60_000);
    await listening.network.close();
    expect(await probeClock(listening.address, ant, timeoutMs)).toBeUndefined();
  });
});
