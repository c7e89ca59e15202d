import {
  leaveRequestSchema,
  leaveResultSchema,
  removeMemberRequestSchema,
  removeMemberResultSchema,
} from '@lockstep/shared/api';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { answers } from '../answers.ts';
import { leaveCluster, removeMember } from '../queries/membership.ts';
import type { ServedMember } from '../served-member.ts';

/** The ends of a membership: of this member, and of another one that is lost. */
export const membershipRoutes: FastifyPluginAsyncZod<{ member: ServedMember }> = async (app, { member }) => {
  app.post(
    '/leave',
    {
      config: { access: 'own', command: 'lockstep leave DIR' },
      schema: {
        tags: ['commands'],
        summary: 'Retire this member',
        description: 'Refused with `not-left` if no other member has some of its files.',
        body: leaveRequestSchema,
        response: answers(leaveResultSchema),
      },
    },
    (request) => leaveCluster(member, request.body),
  );

  app.post(
    '/members/remove',
    {
      schema: {
        tags: ['commands'],
        summary: 'Remove another member that is lost, or take it back',
        description:
          'No member waits for a removed one, and it is refused if it comes back. Only a member that is down is removed.',
        body: removeMemberRequestSchema,
        response: answers(removeMemberResultSchema),
      },
    },
    (request) => removeMember(member.engine, request.body),
  );
};
