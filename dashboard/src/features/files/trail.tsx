import { Anchor } from '@mantine/core';
import { Link } from 'wouter';
import { pathLink } from '../../parts/links.ts';
import { trailOf } from './listing.ts';
import classes from './trail.module.css';

/** The breadcrumbs: the folder, and each directory down to `path`. */
export function Trail({ path }: { readonly path: string }) {
  const steps = [{ name: 'All files', path: '' }, ...trailOf(path)];
  return (
    <nav aria-label="Path">
      <ol className={classes.trail}>
        {steps.map((step) => (
          <li key={step.path}>
            {step.path === path ? (
              <span aria-current="page">{step.name}</span>
            ) : (
              <Anchor component={Link} href={pathLink(step.path)}>
                {step.name}
              </Anchor>
            )}
          </li>
        ))}
      </ol>
    </nav>
  );
}
