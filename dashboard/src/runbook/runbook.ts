import { Marked, type Token } from 'marked';

/** A piece of text in one style. */
export interface Span {
  readonly text: string;
  readonly style?: 'code' | 'strong' | 'em' | undefined;
}

/** One point of an entry: what a problem means, what Lockstep does, what a person does, and when it is over. */
export interface RunbookPart {
  readonly label: string;
  readonly lines: readonly (readonly Span[])[];
}

/** The entries of the runbook, by the code of their problem. */
export type Runbook = Readonly<Record<string, readonly RunbookPart[]>>;

const markdown = new Marked();

/** The entries of docs/OPERATIONS.md: the lists of named points below headings that are codes of problems. Runs when the page is built. */
export function runbookOf(document: string): Runbook {
  const entries: Record<string, readonly RunbookPart[]> = {};
  let code: string | undefined;
  for (const token of markdown.lexer(document)) {
    if (token.type === 'heading') code = /^[a-z][a-z0-9-]+$/.test(token.text) ? token.text : undefined;
    if (token.type !== 'list' || code === undefined) continue;
    const parts = (token.items as readonly Token[]).flatMap(partOf);
    if (parts.length > 0) entries[code] = [...(entries[code] ?? []), ...parts];
  }
  return entries;
}

/** `**Label**: text`. */
function partOf(item: Token): readonly RunbookPart[] {
  const [first = [], ...rest] = linesOf(childrenOf(item));
  const [label, ...spans] = first;
  if (label?.style !== 'strong') return [];
  const [start, ...others] = spans;
  const lead = start === undefined ? [] : [{ ...start, text: start.text.replace(/^:\s*/, '') }];
  return [{ label: label.text, lines: [[...lead, ...others], ...rest] }];
}

/** Blocks as lines; each item of a list is a line. */
function linesOf(blocks: readonly Token[]): readonly (readonly Span[])[] {
  return blocks.flatMap((block) => {
    switch (block.type) {
      case 'text':
      case 'paragraph':
        return [childrenOf(block).flatMap((token) => spansOf(token))];
      case 'list':
        return (block.items as readonly Token[]).flatMap((item) => linesOf(childrenOf(item)));
      case 'code':
        return [[{ text: block.text as string, style: 'code' as const }]];
      default:
        return [];
    }
  });
}

/** Links are plain text: most lead to other sections of the document. */
function spansOf(token: Token): readonly Span[] {
  switch (token.type) {
    case 'codespan':
      return [{ text: token.text, style: 'code' }];
    case 'strong':
    case 'em':
      return [{ text: token.text, style: token.type }];
    case 'link':
      return childrenOf(token).flatMap(spansOf);
    default:
      return 'text' in token && typeof token.text === 'string' ? [{ text: token.text.replaceAll('\n', ' ') }] : [];
  }
}

function childrenOf(token: Token): readonly Token[] {
  return 'tokens' in token ? (token.tokens ?? []) : [];
}
