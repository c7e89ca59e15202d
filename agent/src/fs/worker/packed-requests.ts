import type { ActionRequest, ContentSource } from '../../sync/ports/folder.ts';

/**
 * Copies the bytes of a batch into one buffer that can be transferred to a worker. Sending the views would clone their whole buffers, such
 * as a whole frame.
 */
export function packRequests(requests: readonly ActionRequest[]): {
  readonly packed: readonly ActionRequest[];
  readonly buffer: ArrayBuffer;
} {
  let length = 0;
  for (const { action } of requests) {
    if (action.do === 'write' && action.source.from === 'bytes') length += action.source.bytes.length;
  }
  const buffer = new ArrayBuffer(length);
  let offset = 0;
  const packed = requests.map((request): ActionRequest => {
    const { action } = request;
    if (action.do !== 'write') return request;
    let source: ContentSource = action.source;
    if (source.from === 'bytes') {
      const bytes = new Uint8Array(buffer, offset, source.bytes.length);
      bytes.set(source.bytes);
      offset += bytes.length;
      source = { from: 'bytes', bytes };
    }
    // The block hashes are not needed: the complete content is verified by its id.
    return { ...request, action: { ...action, source, blocks: undefined } };
  });
  return { packed, buffer };
}
