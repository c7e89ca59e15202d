import { createHash, createPrivateKey, createPublicKey, type KeyObject, X509Certificate } from 'node:crypto';
import type { MemberId } from '@lockstep/shared';
import { encodeBase32 } from './base32.ts';

/** The identity of a member on the network: a key pair, and the self-signed certificate that TLS requires for it. */
export interface Identity {
  readonly memberId: MemberId;
  /** Private key, PEM. */
  readonly key: string;
  /** Self-signed certificate of the key, PEM. */
  readonly certificate: string;
}

/** The id of the member with this public key: base32 of the SHA-256 of its SPKI form. */
export function memberIdOf(publicKey: KeyObject): MemberId {
  const spki = publicKey.export({ type: 'spki', format: 'der' });
  return encodeBase32(createHash('sha256').update(spki).digest()) as MemberId;
}

/** Draws a new identity. */
export async function createIdentity(): Promise<Identity> {
  return identityOf(undefined);
}

/** The identity of this private key (PEM), with a new certificate: the key identifies the member. Throws if `key` is not a private key. */
export async function renewCertificate(key: string): Promise<Identity> {
  const privateKey = createPrivateKey(key);
  const publicKey = createPublicKey(privateKey).export({ type: 'spki', format: 'pem' });
  return identityOf({
    privateKey: String(privateKey.export({ type: 'pkcs8', format: 'pem' })),
    publicKey: String(publicKey),
  });
}

async function identityOf(keyPair: { privateKey: string; publicKey: string } | undefined): Promise<Identity> {
  // Loaded here because only this function needs it: a running agent saves 17 MiB of memory.
  const { generate } = await import('selfsigned');
  // The dates are fixed and wide. No member checks them, because the key identifies the member. A machine with a wrong clock must not make
  // a certificate that others call expired.
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
