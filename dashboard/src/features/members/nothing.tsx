import { VisuallyHidden } from '@mantine/core';
import classes from './member-table.module.css';

/** A dash in place of a value, with the reason for screen readers. */
export function Nothing({ why }: { readonly why: string }) {
  return (
    <span className={classes.quiet} title={why}>
      <span aria-hidden="true">–</span>
      <VisuallyHidden>{why}</VisuallyHidden>
    </span>
  );
}
