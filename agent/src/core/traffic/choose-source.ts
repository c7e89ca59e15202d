/** A member from which a content may be fetched. */
export interface SourceCandidate {
  /** It made the operation. */
  readonly isOrigin: boolean;
  /** It has said that it holds the operation. */
  readonly isHolder: boolean;
  /** It told that it does not have the content, a moment ago at the earliest. */
  readonly lacks: boolean;
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
 * The member to fetch a content from, if only one is asked: the one that has it and is expected to send it first. So it does not wait behind
 * a large one on a slow link. Undefined if there is no candidate.
 */
export function chooseSource<Candidate extends SourceCandidate>(
  candidates: readonly Candidate[],
): Candidate | undefined {
  const keyed = candidates.map((candidate) => {
    const { isOrigin } = candidate;
    const key = [rankOf(candidate), expectedMs(candidate) - (isOrigin ? originLeadMs : 0)] as const;
    return { candidate, key };
  });
  keyed.sort((a, b) => a.key[0] - b.key[0] || a.key[1] - b.key[1]);
  return keyed[0]?.candidate;
}

/** Those of a lower rank are asked first. An origin that lacks the content may have made it since it told so. */
function rankOf({ isOrigin, isHolder, lacks }: SourceCandidate): number {
  if (lacks) return isOrigin ? 1 : 3;
  return isOrigin || isHolder ? 0 : 2;
}

/** The time until a further request is answered, in milliseconds. */
function expectedMs({ roundTripMs, requestedBytes, bytesPerSecond }: SourceCandidate): number {
  const rate = bytesPerSecond === 0 ? assumedBytesPerSecond : bytesPerSecond;
  return roundTripMs + (requestedBytes / rate) * 1_000;
}
