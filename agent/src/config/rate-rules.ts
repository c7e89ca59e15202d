import { z } from 'zod';
import { formatSize, parseSize } from './quantity.ts';

/** A limit of a rate: at all hours or at some, for all members together or for one. */
export interface RateRule {
  readonly bytesPerSecond: number;
  /** Minutes of the local day: from the first inclusive to the second exclusive, also across midnight. */
  readonly hours?: { readonly from: number; readonly to: number };
  /** The name of a member. */
  readonly member?: string;
}

/** Below it a block of 1 MiB takes more than a minute, which is not what a user wants: a rate without its unit is more likely. */
const limitBytesMin = 16_384;

/** A rule is checked for each block: a person needs one or two for each of 64 members. */
const rulesMax = 128;

const pattern = /^([0-9.]+ ?[A-Za-z]+) ?\/ ?s(?: +([0-9:]+ ?- ?[0-9:]+))?(?: +([A-Za-z0-9][A-Za-z0-9._-]{0,39}))?$/;

const timePattern = /^([01]?[0-9]|2[0-4]):([0-5][0-9])$/;

function parseTime(text: string): number | undefined {
  const match = timePattern.exec(text.trim());
  if (match === null) return undefined;
  const minute = Number(match[1]) * 60 + Number(match[2]);
  return minute <= 1_440 ? minute : undefined;
}

/** Parses `22:00-06:00`. Undefined for other texts, and for hours that have no length or begin at 24:00. */
function parseHours(text: string): RateRule['hours'] {
  const [first = '', second = ''] = text.split('-');
  const from = parseTime(first);
  const to = parseTime(second);
  if (from === undefined || to === undefined || from === to || from === 1_440) return undefined;
  return { from, to };
}

function parseRule(text: string): RateRule | undefined {
  const [, size = '', hoursText, member] = pattern.exec(text.trim()) ?? [];
  const bytesPerSecond = parseSize(size);
  if (bytesPerSecond === undefined || bytesPerSecond < limitBytesMin) return undefined;
  if (hoursText === undefined) return { bytesPerSecond, ...(member !== undefined && { member }) };
  const hours = parseHours(hoursText);
  return hours && { bytesPerSecond, hours, ...(member !== undefined && { member }) };
}

/** The limits of one direction: a text of rules that are separated by commas, or a list of rules. */
export const rateRules = z
  .union([z.string(), z.array(z.string())])
  .transform((value, context): readonly RateRule[] => {
    const texts = typeof value === 'string' ? value.split(',') : value;
    const isNone = texts.length === 0 || (texts.length === 1 && texts[0]?.trim() === 'none');
    if (isNone) return [];
    return texts.flatMap((text, index) => {
      const rule = parseRule(text);
      if (rule === undefined) context.addIssue({ code: 'custom', path: typeof value === 'string' ? [] : [index] });
      return rule ?? [];
    });
  })
  .refine((rules) => rules.length <= rulesMax);

/** The allowed values, as the end of a sentence that begins with "must be". */
export const allowedRates =
  `none, a rate from ${formatSize(limitBytesMin)}/s, such as "2 MiB/s" (units B, KiB, MiB, GiB), or a list of rates that hold at ` +
  'some hours or for one member, such as ["10 MiB/s", "2 MiB/s 08:00-18:00", "1 MiB/s cat"] (hours from 00:00 to 24:00)';
