import { VisuallyHidden } from '@mantine/core';
import classes from './member-table.module.css';

/** A dash for the eye, the reason for a screen reader. */
export function Nothing({ why }: { readonly why: string }) {
  return (
    <span className={classes.quiet} title={why}>
      <span aria-hidden="true">–</span>
      <VisuallyHidden>{why}</VisuallyHidden>
    </span>
  );
}
