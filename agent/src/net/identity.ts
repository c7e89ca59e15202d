import { createHash, createPrivateKey, createPublicKey, type KeyObject, X509Certificate } from 'node:crypto';
import type { MemberId } from '@lockstep/shared';
import { encodeBase32 } from './base32.ts';

/** Who a member is on the network: a key pair, and the self-signed certificate that TLS wants it wrapped in. */
export interface Identity {
  readonly memberId: MemberId;
  /** Private key, PEM. */
  readonly key: string;
  /** Self-signed certificate of the key, PEM. */
  readonly certificate: string;
}

/** The member whose public key this is: base32 of the SHA-256 of its SPKI form. */
export function memberIdOf(publicKey: KeyObject): MemberId {
  const spki = publicKey.export({ type: 'spki', format: 'der' });
  return encodeBase32(createHash('sha256').update(spki).digest()) as MemberId;
}

/** Draws a new identity. */
export async function createIdentity(): Promise<Identity> {
  return identityOf(undefined);
}

/** The identity whose private key this is (PEM), with a new certificate: a member is its key. Throws when it is no such key. */
export async function renewCertificate(key: string): Promise<Identity> {
  const privateKey = createPrivateKey(key);
  const publicKey = createPublicKey(privateKey).export({ type: 'spki', format: 'pem' });
  return identityOf({
    privateKey: String(privateKey.export({ type: 'pkcs8', format: 'pem' })),
    publicKey: String(publicKey),
  });
}

async function identityOf(keyPair: { privateKey: string; publicKey: string } | undefined): Promise<Identity> {
  // Loaded here because only this needs it: 17 MiB of memory that a running agent does not spend.
  const { generate } = await import('selfsigned');
  // The dates are fixed and wide: a member is its key, nobody judges the certificate, and a machine whose clock is wrong must
  // not make one that others would call expired.
  const pair = await generate([{ name: 'commonName', value: 'lockstep' }], {
    keyType: 'ec',
    curve: 'P-256',
    algorithm: 'sha256',
    notBeforeDate: new Date('2000-01-01T00:00:00Z'),
    notAfterDate: new Date('9999-12-31T23:59:59Z'),
    ...(keyPair === undefined ? {} : { keyPair }),
  });
  const memberId = memberIdOf(new X509Certificate(pair.cert).publicKey);
  return { memberId, key: pair.private, certificate: pair.cert };
}
