import { Anchor } from '@mantine/core';
import { Link } from 'wouter';
import { pathLink } from '../../parts/links.ts';
import { trailOf } from './listing.ts';
import { type ListedAs, withListing } from './order.ts';
import classes from './trail.module.css';

/** The breadcrumbs: the folder, and each directory down to `path`. */
export function Trail({ path, listed }: { readonly path: string; readonly listed: ListedAs }) {
  const steps = [{ name: 'All files', path: '' }, ...trailOf(path)];
  return (
    <nav aria-label="Path">
      <ol className={classes.trail}>
        {steps.map((step) => (
          <li key={step.path}>
            {step.path === path ? (
              <span aria-current="page">{step.name}</span>
            ) : (
              <Anchor component={Link} href={withListing(pathLink(step.path), listed)}>
                {step.name}
              </Anchor>
            )}
          </li>
        ))}
      </ol>
    </nav>
  );
}
