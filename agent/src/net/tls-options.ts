import type { SecureContextOptions } from 'node:tls';
import type { Identity } from './keys/identity.ts';

/** The path of the WebSocket. */
export const webSocketPath = '/lockstep/v1';

/** The path of the WebSocket for one request of a member that controls another one. */
export const controlPath = '/lockstep/v1/control';

/**
 * The TLS options of both sides. Certificates are checked against no authority: the handshake above TLS authenticates, and the key in the
 * certificate identifies the member. AES-128 comes first: in practice as strong as AES-256, and a third faster.
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
