export const NAL_SLICE = 1;
export const NAL_IDR_SLICE = 5;
export const NAL_SPS = 7;
export const NAL_PPS = 8;

const HIGHEST_PRIORITY = 3;
const EMULATION_PREVENTION_BYTE = 3;

const TWO_ZEROS = Buffer.alloc(2);

/** Applies emulation prevention (clause 7.4.1), so that no start code appears inside a unit. */
const escape = (payload: Uint8Array): Uint8Array => {
  // Samples in limited range are never zero, so most payloads need no escaping.
  if (!Buffer.from(payload.buffer, payload.byteOffset, payload.length).includes(TWO_ZEROS)) return payload;
  const escaped = new Uint8Array(payload.length + Math.ceil(payload.length / 2));
  let length = 0;
  let zeros = 0;
  for (const byte of payload) {
    if (zeros === 2 && byte <= EMULATION_PREVENTION_BYTE) {
      escaped[length++] = EMULATION_PREVENTION_BYTE;
      zeros = 0;
    }
    escaped[length++] = byte;
    zeros = byte === 0 ? zeros + 1 : 0;
  }
  return escaped.subarray(0, length);
};

/** Creates a NAL unit from a header byte and the escaped payload. */
export const nalUnit = (type: number, payload: Uint8Array): Uint8Array => {
  const escaped = escape(payload);
  const unit = new Uint8Array(1 + escaped.length);
  unit[0] = (HIGHEST_PRIORITY << 5) | type;
  unit.set(escaped, 1);
  return unit;
};

/** Creates a NAL unit with a four-byte length, as stored in MP4. */
export const lengthPrefixed = (unit: Uint8Array): Uint8Array => {
  const sample = new Uint8Array(4 + unit.length);
  new DataView(sample.buffer).setUint32(0, unit.length);
  sample.set(unit, 4);
  return sample;
};
