import runbook, { type Span } from 'virtual:runbook';
import type { Status } from '@lockstep/shared/api';
import { useLocation, useSearchParams } from 'wouter';
import { problemLink } from '../../parts/links.ts';
import classes from './problems.module.css';

/** The entry of the runbook about a problem, closed at first. An open one has an address. */
export function RunbookEntry({ problem }: { readonly problem: Status['problems'][number] }) {
  const [parameters] = useSearchParams();
  const [, navigate] = useLocation();
  const parts = runbook[problem.code];
  // A newer agent may report a problem that this page does not know.
  if (parts === undefined) return null;
  const address = problemLink(problem);
  const isOpen = address === problemLink(Object.fromEntries(parameters));
  const toggle = (wantsOpen: boolean): void => {
    if (wantsOpen !== isOpen) navigate(wantsOpen ? address : problemLink({}), { replace: true });
  };
  return (
    <details open={isOpen} onToggle={(event) => toggle(event.currentTarget.open)} className={classes.runbook}>
      <summary>What it means, and what to do</summary>
      <dl>
        {parts.map(({ label, lines }) => (
          <div key={label}>
            <dt>{label}</dt>
            {lines.map((spans) => (
              <dd key={textOf(spans)}>{spans.map(spanElement)}</dd>
            ))}
          </div>
        ))}
      </dl>
    </details>
  );
}

function spanElement({ text, style }: Span, index: number) {
  const key = `${index} ${text}`;
  switch (style) {
    case 'code':
      return <code key={key}>{text}</code>;
    case 'strong':
      return <strong key={key}>{text}</strong>;
    case 'em':
      return <em key={key}>{text}</em>;
    default:
      return <span key={key}>{text}</span>;
  }
}

function textOf(spans: readonly Span[]): string {
  return spans.map(({ text }) => text).join('');
}
