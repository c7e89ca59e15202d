import { Link } from 'wouter';
import classes from './span-choice.module.css';

/** A choice of the time that a part of the page shows. Each is an address. */
export function SpanChoice<Span extends string>({
  spans,
  chosen,
  hrefOf,
}: {
  readonly spans: readonly (readonly [span: Span, words: string])[];
  readonly chosen: Span;
  readonly hrefOf: (span: Span) => string;
}) {
  return (
    <nav className={classes.choice} aria-label="Time">
      {spans.map(([span, words]) => (
        <Link
          key={span}
          href={hrefOf(span)}
          replace
          className={classes.span}
          aria-current={span === chosen ? 'true' : undefined}
        >
          {words}
        </Link>
      ))}
    </nav>
  );
}
