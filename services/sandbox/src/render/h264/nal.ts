export const NAL_SLICE = 1;
export const NAL_IDR_SLICE = 5;
export const NAL_SPS = 7;
export const NAL_PPS = 8;

const HIGHEST_PRIORITY = 3;
const EMULATION_PREVENTION_BYTE = 3;

/** Wraps a payload as a NAL unit: the one-byte header, then the payload with emulation prevention (clause 7.4.1). */
export const nalUnit = (type: number, payload: Uint8Array): Uint8Array => {
  const unit = new Uint8Array(1 + payload.length + Math.ceil(payload.length / 2));
  unit[0] = (HIGHEST_PRIORITY << 5) | type;
  let length = 1;
  let zeros = 0;
  for (const byte of payload) {
    if (zeros === 2 && byte <= EMULATION_PREVENTION_BYTE) {
      unit[length++] = EMULATION_PREVENTION_BYTE;
      zeros = 0;
    }
    unit[length++] = byte;
    zeros = byte === 0 ? zeros + 1 : 0;
  }
  return unit.slice(0, length);
};

/** A NAL unit as MP4 stores it: four bytes of length, then the unit. */
export const lengthPrefixed = (unit: Uint8Array): Uint8Array => {
  const sample = new Uint8Array(4 + unit.length);
  new DataView(sample.buffer).setUint32(0, unit.length);
  sample.set(unit, 4);
  return sample;
};
