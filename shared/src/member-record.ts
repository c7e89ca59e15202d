import { z } from 'zod';
import { isMemberId, type MemberId } from './ids.ts';
import {
  addressCharactersMax,
  addressesAcceptedMax,
  addressesMax,
  copiesPatternCharactersMax,
  copiesRulesMax,
  memberNameCharactersMax,
  membersMax,
} from './limits.ts';
import type { CopiesRule, MemberRecord } from './operation.ts';

export const memberNameSchema = z.string().min(1).max(memberNameCharactersMax);

/** Addresses as they are accepted from another member. `carriedAddresses` cuts them to those that this member uses and sends on. */
export const addressesSchema = z.array(z.string().min(1).max(addressCharactersMax)).max(addressesAcceptedMax);

/** A number of copies as people set it. */
export const copiesSchema = z.union([z.int().min(1).max(membersMax), z.literal('all')]);

const copiesRuleSchema: z.ZodType<CopiesRule> = z.object({
  pattern: z.string().max(copiesPatternCharactersMax),
  copies: copiesSchema.nullable(),
  at: z.int().min(0),
});

/** A member's record as it is accepted from others. */
export const memberRecordSchema: z.ZodType<MemberRecord> = z.object({
  id: z.custom<MemberId>(isMemberId, 'is not a member id'),
  name: memberNameSchema,
  addresses: addressesSchema,
  membership: z.enum(['joined', 'left']),
  mayBeAway: z.literal(true).optional(),
  onDemand: z.literal(true).optional(),
  room: z.int().min(0).optional(),
  copies: z.array(copiesRuleSchema).max(copiesRulesMax).optional(),
});

/** The first `addressesMax` of `addresses`, which are the best, without those that are too long to be sent. */
export function carriedAddresses(addresses: readonly string[]): readonly string[] {
  const fits = (address: string): boolean => address !== '' && address.length <= addressCharactersMax;
  if (addresses.length <= addressesMax && addresses.every(fits)) return addresses;
  return addresses.filter(fits).slice(0, addressesMax);
}

/** `record` as it may be sent: its addresses cut to the best ones, its name to the accepted length. */
export function carriedMember(record: MemberRecord): MemberRecord {
  const addresses = carriedAddresses(record.addresses);
  const name = record.name === '' ? record.id.slice(0, 8) : record.name.slice(0, memberNameCharactersMax);
  return addresses === record.addresses && name === record.name ? record : { ...record, name, addresses };
}
