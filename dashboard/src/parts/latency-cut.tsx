import type { Latencies } from '@lockstep/shared/api';
import { type Matrix, whoReachesBoth } from '@lockstep/shared/present';
import { Alert, Text } from '@mantine/core';
import { IconPlugConnectedX } from '@tabler/icons-react';
import { Link } from 'wouter';
import { useApi } from '../live/use-api.ts';
import classes from './latency-cut.module.css';
import { pairLink } from './links.ts';
import { Since } from './moment.tsx';

/** More pairs than this are only counted: the matrix shows them better. */
const listedMax = 8;

/** The alert about pairs that are cut off: which, since when, and what to check. */
export function LatencyCut({ matrix }: { readonly matrix: Matrix }) {
  const { cut } = matrix;
  const key = cut.map(({ from, to }) => `${from.id} ${to.id}`).join();
  const { data } = useApi<Latencies>(cut.length === 0 ? undefined : '/latencies', key);
  if (cut.length === 0) return null;
  const lastAt = (a: string, b: string): number =>
    Math.max(
      0,
      ...(data?.latencies ?? []).map(({ from, to, at }) =>
        (from === a && to === b) || (from === b && to === a) ? (at ?? 0) : 0,
      ),
    );
  return (
    <Alert
      color="red"
      variant="outline"
      icon={<IconPlugConnectedX size={20} aria-hidden="true" />}
      title={cut.length === 1 ? 'A pair is cut off' : `${cut.length} pairs are cut off`}
    >
      <ul className={classes.list}>
        {cut.slice(0, listedMax).map((pair) => {
          const { from, to } = pair;
          const at = lastAt(from.id, to.id);
          const others = whoReachesBoth(matrix, pair);
          return (
            <li key={`${from.id} ${to.id}`}>
              <Link href={pairLink(from.id, to.id)}>
                {from.name} and {to.name}
              </Link>{' '}
              have no session with each other
              {at > 0 && (
                <>
                  {' '}
                  for <Since at={at} />
                </>
              )}
              {others !== '' && `; ${others} both`}.
            </li>
          );
        })}
      </ul>
      {cut.length > listedMax && (
        <Text mt={4} size="sm">
          … and {cut.length - listedMax} more.
        </Text>
      )}
      <Text mt="xs" size="sm">
        All of them are up. Check the addresses that they announce to each other, and the firewalls between them: one of
        the two must be able to open a connection to the other.
      </Text>
    </Alert>
  );
}
