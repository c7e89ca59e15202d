import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { freePort } from './free-port.ts';

/** Whether another process can claim the port, as it says itself. */
async function claimElsewhere(port: number): Promise<string> {
  const script = `require('node:dgram').createSocket('udp4')
    .on('error', ({ code }) => console.log(code))
    .bind({ port: ${port}, address: '127.0.0.1', exclusive: true }, function () { console.log('claimed'); this.close(); })`;
  const child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [said] = await Promise.all([text(child.stdout), once(child, 'close')]);
  return said.trim();
}

test('a port is given once, and to no other process', async () => {
  const ports = await Promise.all(Array.from({ length: 50 }, freePort));
  expect(new Set(ports).size).toBe(50);
  expect(await claimElsewhere(ports[0] ?? 0)).toBe('EADDRINUSE');
});
