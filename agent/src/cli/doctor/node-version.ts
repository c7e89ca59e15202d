import { type Finding, findingsOf } from './finding.ts';

const { fail } = findingsOf('versions');

/** As `engines` in package.json says, which npm only warns of. */
const minimum = { major: 20, minor: 19 };

/** Whether this version of Node is one that the agent can run on. */
export function judgeNode(version: string): readonly Finding[] {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (major > minimum.major || (major === minimum.major && minor >= minimum.minor)) return [];
  const detail = `This is Node ${version}, and Lockstep needs ${minimum.major}.${minimum.minor} or later.`;
  return [fail(detail, 'Install a newer Node (https://nodejs.org), and then Lockstep again.')];
}
