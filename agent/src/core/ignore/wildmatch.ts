/** The code points that one step of a pattern accepts: one of them, any one, any number, or those that a function accepts. */
type Token = number | typeof anyOne | typeof anyNumber | ((point: number) => boolean);

const anyOne = 'one';
const anyNumber = 'number';
/** A name of `**`: it accepts any number of names, including none. */
const anyNames = 'names';

/** The part of a pattern between two slashes. `literal`: its text, if it has no wildcard. `suffix`: the text after a single leading `*`. */
interface Segment {
  readonly tokens: readonly Token[];
  readonly literal?: string | undefined;
  readonly suffix?: string | undefined;
}

/** A compiled glob pattern. */
export interface Glob {
  /** The text, when the pattern is a name without a wildcard. */
  readonly literal: string | undefined;
  /** True when the pattern matches the names of the path, from the top of the folder down. */
  matches(path: SplitPath): boolean;
  /** True when the pattern matches one name. Only for a pattern that is no path. */
  matchesName(name: SplitPath, index: number): boolean;
}

/** A path as its names. The code points of a name are computed once, for all patterns that it is compared with. */
export class SplitPath {
  readonly names: readonly string[];
  readonly #points: (readonly number[] | undefined)[] = [];

  constructor(path: string) {
    this.names = path.split('/');
  }

  points(index: number): readonly number[] {
    let points = this.#points[index];
    if (points === undefined) {
      points = codePoints(this.names[index] ?? '');
      this.#points[index] = points;
    }
    return points;
  }
}

const slash = 0x2f;
const backslash = 0x5c;
const star = 0x2a;

/**
 * Compiles a pattern of gitignore(5) without its `!`, leading slash and trailing slash: the language of git's wildmatch.c, over code
 * points. `isPath`: it is compared with whole paths, because it has a slash that is not the last character. Returns undefined if it can
 * match nothing: a bracket that is not closed, a class that does not exist, a backslash at the end.
 *
 * The libraries for such patterns compile them to regular expressions, which take exponential time for some patterns. Here one name is
 * compared in at most pattern × name steps, and one path in at most pattern × path. A wildcard that accepts any number backtracks to the
 * last one of its kind only. That is enough, because an earlier one can accept nothing that the last one cannot.
 */
export function compileGlob(pattern: string, isPath: boolean): Glob | undefined {
  const parts: Token[][] = [[]];
  const points = codePoints(pattern);
  for (let index = 0; index < points.length; index++) {
    const point = points[index] as number;
    const part = parts.at(-1) as Token[];
    if (point === slash || (point === backslash && points[index + 1] === slash)) {
      if (point === backslash) index++;
      parts.push([]);
    } else if (point === backslash) {
      const quoted = points[++index];
      if (quoted === undefined) return undefined;
      part.push(quoted);
    } else if (point === star) part.push(anyNumber);
    else if (point === 0x3f) part.push(anyOne);
    else if (point === 0x5b) {
      const bracket = readBracket(points, index + 1);
      if (bracket === undefined) return undefined;
      part.push(bracket.accepts);
      index = bracket.end;
    } else part.push(point);
  }
  return globOf(parts, isPath);
}

function globOf(parts: readonly Token[][], isPath: boolean): Glob {
  const segments: (Segment | typeof anyNames)[] = [];
  for (const [index, tokens] of parts.entries()) {
    const isStars = tokens.length > 1 && tokens.every((token) => token === anyNumber);
    if (!isStars || !isPath) segments.push(segmentOf(tokens));
    else {
      if (segments.at(-1) !== anyNames) segments.push(anyNames);
      // At the end of a pattern, `**` matches the entries below the directory, and not the directory.
      if (index === parts.length - 1) segments.push(segmentOf([anyNumber]));
    }
  }
  const [first] = segments;
  return {
    literal: isPath || first === anyNames ? undefined : first?.literal,
    matches: (path) => matchesAll(segments, path),
    matchesName: (path, index) => first !== undefined && first !== anyNames && matchesOne(first, path, index),
  };
}

function segmentOf(all: readonly Token[]): Segment {
  const tokens = all.filter((token, index) => token !== anyNumber || all[index - 1] !== anyNumber);
  const literalOf = (part: readonly Token[]): string | undefined =>
    part.every((token) => typeof token === 'number') ? textOf(part as number[]) : undefined;
  return {
    tokens,
    literal: literalOf(tokens),
    suffix: tokens[0] === anyNumber ? literalOf(tokens.slice(1)) : undefined,
  };
}

/** Compares the names of a path with the segments: a greedy match that backtracks to the last `**` only. */
function matchesAll(segments: readonly (Segment | typeof anyNames)[], path: SplitPath): boolean {
  const count = path.names.length;
  let at = 0;
  let name = 0;
  let backTo = -1;
  let backName = 0;
  while (name < count) {
    const segment = segments[at];
    if (segment === anyNames) {
      backTo = ++at;
      backName = name;
    } else if (segment !== undefined && matchesOne(segment, path, name)) {
      at++;
      name++;
    } else if (backTo >= 0) {
      at = backTo;
      name = ++backName;
    } else return false;
  }
  while (segments[at] === anyNames) at++;
  return at === segments.length;
}

/** Compares one name with a segment, in the same way. */
function matchesOne({ tokens, literal, suffix }: Segment, path: SplitPath, index: number): boolean {
  const text = path.names[index] ?? '';
  if (literal !== undefined) return literal === text;
  if (suffix !== undefined) return text.endsWith(suffix);
  const [head] = tokens;
  if (typeof head === 'number' && text.codePointAt(0) !== head) return false;
  const points = path.points(index);
  let at = 0;
  let point = 0;
  let backTo = -1;
  let backPoint = 0;
  while (point < points.length) {
    const token = tokens[at];
    if (token === anyNumber) {
      backTo = ++at;
      backPoint = point;
    } else if (token !== undefined && accepts(token, points[point] as number)) {
      at++;
      point++;
    } else if (backTo >= 0) {
      at = backTo;
      point = ++backPoint;
    } else return false;
  }
  while (tokens[at] === anyNumber) at++;
  return at === tokens.length;
}

function accepts(token: Exclude<Token, typeof anyNumber>, point: number): boolean {
  if (typeof token === 'number') return token === point;
  return token === anyOne || token(point);
}

function codePoints(text: string): readonly number[] {
  const points: number[] = [];
  for (let index = 0; index < text.length; index++) {
    const point = text.codePointAt(index) as number;
    if (point > 0xffff) index++;
    points.push(point);
  }
  return points;
}

function textOf(points: readonly number[]): string {
  let text = '';
  for (const point of points) text += String.fromCodePoint(point);
  return text;
}

/** A part of a bracket: the points from the first to the last. */
type Range = readonly [first: number, last: number];

/** The classes of wildmatch.c: ASCII only, and without `\v` and `\f` among the spaces. */
const classes: Readonly<Record<string, readonly Range[]>> = {
  alnum: [...pointRanges('09', 'AZ', 'az')],
  alpha: [...pointRanges('AZ', 'az')],
  blank: [...pointRanges('  ', '\t\t')],
  cntrl: [...pointRanges('\u0000\u001f', '\u007f\u007f')],
  digit: [...pointRanges('09')],
  graph: [...pointRanges('!~')],
  lower: [...pointRanges('az')],
  print: [...pointRanges(' ~')],
  punct: [...pointRanges('!/', ':@', '[`', '{~')],
  space: [...pointRanges('  ', '\t\n', '\r\r')],
  upper: [...pointRanges('AZ')],
  xdigit: [...pointRanges('09', 'AF', 'af')],
};

function pointRanges(...pairs: readonly string[]): readonly Range[] {
  return pairs.map((pair) => [pair.charCodeAt(0), pair.charCodeAt(1)]);
}

/**
 * Reads a bracket expression whose `[` lies before `start`. `end`: the index of its `]`. Undefined if it is not closed or names an unknown
 * class.
 */
function readBracket(
  points: readonly number[],
  start: number,
): { readonly accepts: (point: number) => boolean; readonly end: number } | undefined {
  const isNegated = points[start] === 0x21 || points[start] === 0x5e;
  const first = isNegated ? start + 1 : start;
  const ranges: Range[] = [];
  /** The character with which a `-` may begin a range. */
  let before: number | undefined;
  let end = 0;
  for (let index = first; ; index++) {
    let point = points[index];
    if (point === undefined) return undefined;
    // A `]` that comes first is one of the characters.
    if (point === 0x5d && index > first) {
      return {
        accepts: (tested) => ranges.some(([low, high]) => tested >= low && tested <= high) !== isNegated,
        end: index,
      };
    }
    const next = points[index + 1];
    if (point === 0x2d && before !== undefined && next !== undefined && next !== 0x5d) {
      let last = points[++index];
      if (last === backslash) last = points[++index];
      if (last === undefined) return undefined;
      ranges.push([before, last]);
      before = undefined;
      continue;
    }
    if (point === 0x5b && next === 0x3a) {
      // Kept for the next `[:`: a search for each would take quadratic time.
      if (end < index + 2) end = points.indexOf(0x5d, index + 2);
      if (end < 0) return undefined;
      if (end > index + 2 && points[end - 1] === 0x3a) {
        const known = textOf(points.slice(index + 2, end - 1));
        if (!Object.hasOwn(classes, known)) return undefined;
        ranges.push(...(classes[known] ?? []));
        before = undefined;
        index = end;
        continue;
      }
    }
    if (point === backslash) {
      point = points[++index];
      if (point === undefined) return undefined;
    }
    ranges.push([point, point]);
    before = point;
  }
}
