import { LockstepError } from '@lockstep/shared';
import type { FastifySchemaCompiler } from 'fastify';
import { z } from 'zod';

type Issue = z.core.$ZodIssue;

/** A phrase that names the allowed values. The name of the field goes before it. */
type Phrase = string;

const partNames: Record<string, string> = { body: 'body', querystring: 'query', params: 'address', headers: 'headers' };

const typePhrases: Record<string, Phrase> = {
  string: 'must be text',
  number: 'must be a number',
  int: 'must be a whole number',
  boolean: 'must be true or false',
  array: 'must be a list',
  object: 'must be an object',
};

/** Checks one part of a request against the schema of its route. The message on a problem names the allowed values. */
export const requestValidator: FastifySchemaCompiler<z.ZodType> = ({ schema, httpPart }) => {
  const part = partNames[httpPart ?? ''] ?? 'request';
  return (data) => {
    const result = z.safeParse(schema, data, { error: phraseOf });
    if (result.success) return { value: result.data };
    const faults = result.error.issues.map(faultOf);
    return { error: new LockstepError('request-invalid', `The ${part} is not valid: ${faults.join('; ')}.`) };
  };
};

function faultOf({ path, message }: Pick<Issue, 'path' | 'message'>): string {
  return `${path.length === 0 ? 'it' : path.map(String).join('.')} ${message}`;
}

/** The message of an issue whose schema has none of its own. */
function phraseOf(issue: z.core.$ZodRawIssue): Phrase {
  if (issue.input === undefined) return 'is missing';
  switch (issue.code) {
    case 'invalid_type':
      return typePhrases[issue.expected] ?? `must be of the type ${issue.expected}`;
    case 'invalid_value':
      return `must be ${either(issue.values.map((value) => JSON.stringify(value)))}`;
    case 'too_big':
      return bound(issue.origin, issue.inclusive === false ? 'less than' : 'at most', issue.maximum);
    case 'too_small': {
      const isText = issue.origin === 'string' || issue.origin === 'array';
      if (isText && issue.minimum === 1) return 'must not be empty';
      return bound(issue.origin, issue.inclusive === false ? 'more than' : 'at least', issue.minimum);
    }
    case 'not_multiple_of':
      return `must be a multiple of ${issue.divisor}`;
    case 'unrecognized_keys':
      return `must not have ${either(issue.keys)}`;
    case 'invalid_union':
      return either([...new Set(issue.errors.flatMap(([first]) => first ?? []).map(optionOf))]) || 'is not allowed';
    default:
      return 'is not allowed';
  }
}

/** One of the alternatives of an input. */
function optionOf(issue: Issue): Phrase {
  return issue.path.length === 0 ? issue.message : `must be an object in which ${faultOf(issue)}`;
}

function bound(origin: string, relation: string, limit: number | bigint): Phrase {
  if (origin === 'string') return `must have ${relation} ${limit} characters`;
  if (origin === 'array') return `must have ${relation} ${limit} entries`;
  return `must be ${relation} ${limit}`;
}

function either(options: readonly string[]): string {
  const last = options.at(-1) ?? '';
  return options.length < 2 ? last : `${options.slice(0, -1).join(', ')} or ${last}`;
}
