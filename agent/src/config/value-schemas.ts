import { formatHostPort, isAnyHost, parseHostPort } from '@lockstep/shared';
import { z } from 'zod';
import { parseDuration, parseSize } from './quantity.ts';

/** A value read from a text; `read` returns undefined for a text that is not allowed. */
export function custom<Value>(read: (text: string) => Value | undefined): z.ZodType<Value> {
  return z.string().transform((text, context) => {
    const value = read(text);
    if (value === undefined) {
      context.addIssue({ code: 'custom' });
      return z.NEVER;
    }
    return value;
  });
}

/** A member's name. */
export const memberName = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,39}$/);

/** An address to listen on. */
export const hostPort = custom(parseHostPort);

/** An address to dial: not port 0, and not an address that means every interface. */
const dialAddress = custom((text) => {
  const parsed = parseHostPort(text);
  return parsed === undefined || parsed.port === 0 || isAnyHost(parsed.host) ? undefined : formatHostPort(parsed);
});

/** Addresses to dial. */
export const dialAddresses = z.array(dialAddress).max(256);

/** A duration within these bounds, in milliseconds. */
export function duration(minMs: number, maxMs: number): z.ZodType<number> {
  return custom((text) => {
    const ms = parseDuration(text);
    return ms === undefined || ms < minMs || ms > maxMs ? undefined : ms;
  });
}

/** An address of the web, or none. fetch refuses one that holds a user and a password. */
export const webhook = z
  .union([z.literal(''), z.url({ protocol: /^https?$/ })])
  .refine((text) => text === '' || (new URL(text).username === '' && new URL(text).password === ''));

/** A number of bytes. */
export const size = custom(parseSize);
