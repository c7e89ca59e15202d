import { LockstepError } from '@lockstep/shared';
import { Packr, RESERVE_START_SPACE } from 'msgpackr/pack';
import { Unpackr } from 'msgpackr/unpack';
import { bodyDepthMax } from '../limits.ts';

// No records: every frame is self-contained, and any MessagePack reader can decode it.
const packr = new Packr({ useRecords: false, variableMapSize: true, skipValues: [undefined] });
const unpackr = new Unpackr({ useRecords: false, int64AsType: 'number' });

/** `body` as MessagePack without the fields that are undefined, after `headerBytes` bytes for the caller to fill. */
export function packBody(body: unknown, headerBytes: number): Buffer {
  return packr.pack(body, RESERVE_START_SPACE + headerBytes);
}

/** The value in `bytes`. Binary values are views into `bytes`. Throws `frame-invalid` if they are not plain MessagePack. */
export function unpackBody(bytes: Uint8Array): unknown {
  assertPlain(bytes);
  return unpackr.unpack(bytes);
}

/**
 * Throws unless `bytes` are exactly one complete value of the plain types, nested no deeper than the limit. The library would also decode
 * extensions (records, references, regular expressions, big integers), which a stranger's bytes must not reach.
 */
function assertPlain(bytes: Uint8Array): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const end = bytes.length;
  /** The number of values that each open container still lacks. */
  const open = [1];
  let at = 0;
  const lengthAt = (size: 1 | 2 | 4): number => {
    if (at + size > end) throw cut();
    const length = size === 1 ? view.getUint8(at) : size === 2 ? view.getUint16(at) : view.getUint32(at);
    at += size;
    return length;
  };
  const skip = (length: number): void => {
    at += length;
  };
  const enter = (count: number): void => {
    if (count > end - at) throw cut();
    if (count === 0) return;
    if (open.push(count) - 1 > bodyDepthMax) throw new LockstepError('frame-invalid', 'the body is nested too deep');
  };
  while (open.length > 0) {
    const last = open.length - 1;
    const lacking = open[last] as number;
    if (lacking === 0) {
      open.pop();
      continue;
    }
    open[last] = lacking - 1;
    if (at >= end) throw cut();
    const token = bytes[at++] as number;
    if (token < 0x80 || token >= 0xe0) continue;
    if (token < 0x90) enter(2 * (token & 0x0f));
    else if (token < 0xa0) enter(token & 0x0f);
    else if (token < 0xc0) at += token & 0x1f;
    else {
      switch (token) {
        case 0xc0: // nil, false, true
        case 0xc2:
        case 0xc3:
          break;
        case 0xc4: // bin and str
        case 0xd9:
          skip(lengthAt(1));
          break;
        case 0xc5:
        case 0xda:
          skip(lengthAt(2));
          break;
        case 0xc6:
        case 0xdb:
          skip(lengthAt(4));
          break;
        case 0xcc: // integers and floats, by width
        case 0xd0:
          at += 1;
          break;
        case 0xcd:
        case 0xd1:
          at += 2;
          break;
        case 0xca:
        case 0xce:
        case 0xd2:
          at += 4;
          break;
        case 0xcb:
        case 0xcf:
        case 0xd3:
          at += 8;
          break;
        case 0xdc: // arrays and maps
          enter(lengthAt(2));
          break;
        case 0xdd:
          enter(lengthAt(4));
          break;
        case 0xde:
          enter(2 * lengthAt(2));
          break;
        case 0xdf:
          enter(2 * lengthAt(4));
          break;
        default:
          throw new LockstepError('frame-invalid', `the body holds a value of type 0x${token.toString(16)}`);
      }
    }
    if (at > end) throw cut();
  }
  if (at !== end) throw new LockstepError('frame-invalid', `the body is followed by ${end - at} bytes`);
}

function cut(): LockstepError {
  return new LockstepError('frame-invalid', 'the body is cut short');
}
