import { X509Certificate } from 'node:crypto';
import { isMemberId } from '@lockstep/shared';
import { describe, expect, test } from 'vitest';
import { createIdentity, memberIdOf, renewCertificate } from './identity.ts';

describe('an identity', () => {
  test('has an id that follows from its public key', async () => {
    const [first, second] = await Promise.all([createIdentity(), createIdentity()]);
    expect(isMemberId(first.memberId)).toBe(true);
    expect(first.memberId).toBe(memberIdOf(new X509Certificate(first.certificate).publicKey));
    expect(first.memberId).not.toBe(second.memberId);
  });

  test('has a certificate that outlives its machine', async () => {
    const { certificate } = await createIdentity();
    const { validFrom, validTo } = new X509Certificate(certificate);
    expect(new Date(validFrom).getUTCFullYear()).toBe(2000);
    expect(new Date(validTo).getUTCFullYear()).toBe(9999);
  });

  test('keeps its id with a new certificate', async () => {
    const { key, memberId } = await createIdentity();
    const renewed = await renewCertificate(key);
    expect(renewed).toMatchObject({ key, memberId });
    expect(new X509Certificate(renewed.certificate).publicKey).toBeDefined();
  });
});
