import type { PathReport } from '@lockstep/shared/api';
import { Title } from '@mantine/core';
import { useLayoutEffect, useRef, useState } from 'react';
import classes from './waiting.module.css';

/**
 * The reasons why a path waits. Once shown, it keeps its height: the versions below it have buttons, which must not move when a member
 * confirms. A button that moves between press and release is not clicked.
 */
export function Waiting({ reasons }: { readonly reasons: PathReport['waitsFor'] }) {
  const list = useRef<HTMLUListElement>(null);
  const [tallestPx, setTallestPx] = useState(0);
  // biome-ignore lint/correctness/useExhaustiveDependencies: other reasons have another height
  useLayoutEffect(() => setTallestPx((before) => Math.max(before, list.current?.offsetHeight ?? 0)), [reasons]);
  if (reasons.length === 0 && tallestPx === 0) return null;
  return (
    <section aria-labelledby="waits">
      <Title order={3} size="h5" id="waits">
        Waiting for
      </Title>
      <ul className={classes.reasons} ref={list} style={{ minHeight: tallestPx }}>
        {reasons.map(({ member = '', reason }) => (
          <li key={member + reason}>{reason}</li>
        ))}
        {reasons.length === 0 && <li>Nothing any more.</li>}
      </ul>
    </section>
  );
}
