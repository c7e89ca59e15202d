import type { SecureContextOptions } from 'node:tls';
import type { Identity } from './identity.ts';

/** The path of the WebSocket. */
export const webSocketPath = '/lockstep/v1';

/**
 * TLS as both sides want it. There is no authority to check certificates against: the handshake above TLS says who may speak, and the
 * key in the certificate is the member. AES-128 first: no weaker in practice, and a third faster than AES-256.
 */
export function secureContextOptions({ key, certificate }: Identity): SecureContextOptions {
  return {
    key,
    cert: certificate,
    minVersion: 'TLSv1.3',
    maxVersion: 'TLSv1.3',
    ciphers: 'TLS_AES_128_GCM_SHA256:TLS_CHACHA20_POLY1305_SHA256:TLS_AES_256_GCM_SHA384',
  };
}
