import { type CheckResult, resultsOf } from './check-result.ts';

const { fail } = resultsOf('versions');

/** The same as `engines` in package.json, which npm only warns about. */
const minimum = { major: 20, minor: 19 };

/** A result if the agent cannot run on this version of Node. */
export function judgeNode(version: string): readonly CheckResult[] {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (major > minimum.major || (major === minimum.major && minor >= minimum.minor)) return [];
  const detail = `This is Node ${version}, and Lockstep needs ${minimum.major}.${minimum.minor} or later.`;
  return [fail(detail, 'Install a newer Node (https://nodejs.org), and then Lockstep again.')];
}
