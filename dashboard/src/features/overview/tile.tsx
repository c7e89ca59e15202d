import { Anchor, Paper, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import classes from './tiles.module.css';

/** One part of the overview: its title leads to the view with the rest. */
export function Tile({
  name,
  title,
  href,
  children,
}: {
  /** The place of the tile in the grid, and its id in the page. */
  readonly name: string;
  readonly title: string;
  readonly href?: string;
  readonly children: ReactNode;
}) {
  return (
    <Paper
      withBorder
      p="md"
      component="section"
      aria-labelledby={`tile-${name}`}
      className={classes.tile}
      data-tile={name}
    >
      <Title order={2} size="h5" id={`tile-${name}`} mb="xs">
        {href === undefined ? (
          title
        ) : (
          <Anchor component={Link} href={href} inherit c="inherit" underline="always">
            {title}
          </Anchor>
        )}
      </Title>
      {children}
    </Paper>
  );
}

/** The sentence of a tile that has nothing to list, or less than everything. */
export function Aside({ children }: { readonly children: ReactNode }) {
  return (
    <Text c="dimmed" size="sm">
      {children}
    </Text>
  );
}
