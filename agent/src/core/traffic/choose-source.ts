/** A member from which a content may be fetched. */
export interface SourceCandidate {
  /** It made the operation. */
  readonly isOrigin: boolean;
  /** It has said that it holds the operation. */
  readonly isHolder: boolean;
  readonly roundTripMs: number;
  /** Bytes that were requested from it and have not come. */
  readonly requestedBytes: number;
  /** The rate at which contents have come from it in the last seconds; 0 if none have. */
  readonly bytesPerSecond: number;
}

/** The rate that is assumed of a member from which nothing has come lately: that of a fast line to a home. */
const assumedBytesPerSecond = 10_000_000;
/** The origin is asked unless another member is expected to answer this much earlier: the origin surely has had the content. */
const originLeadMs = 50;

/**
 * The member to fetch a content from. A small one comes from the member that has it and is expected to send it first, so that it does not
 * wait behind a large one on a slow link. A large one comes from its origin, else from the nearest member that has it. Undefined if there
 * is no candidate.
 */
export function chooseSource<Candidate extends SourceCandidate>(
  candidates: readonly Candidate[],
  size: 'small' | 'large',
): Candidate | undefined {
  const key = (candidate: Candidate): readonly [rank: number, ms: number] => {
    const { isOrigin, isHolder, roundTripMs } = candidate;
    if (size === 'large') return [isOrigin ? 0 : isHolder ? 1 : 2, roundTripMs];
    return [isOrigin || isHolder ? 0 : 1, expectedMs(candidate) - (isOrigin ? originLeadMs : 0)];
  };
  const keyed = candidates.map((candidate) => ({ candidate, key: key(candidate) }));
  keyed.sort((a, b) => a.key[0] - b.key[0] || a.key[1] - b.key[1]);
  return keyed[0]?.candidate;
}

/** The time until a further request is answered, in milliseconds. */
function expectedMs({ roundTripMs, requestedBytes, bytesPerSecond }: SourceCandidate): number {
  const rate = bytesPerSecond === 0 ? assumedBytesPerSecond : bytesPerSecond;
  return roundTripMs + (requestedBytes / rate) * 1_000;
}
