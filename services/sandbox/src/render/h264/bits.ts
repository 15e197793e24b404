/** Writes bit strings of H.264 syntax (ITU-T H.264, clauses 7.2 and 9.1), most significant bit first. */
export interface BitWriter {
  /** Writes `u(n)`: the lowest `count` bits of `value`, at most 32. */
  bits(value: number, count: number): void;
  /** Writes `ue(v)`, an unsigned Exp-Golomb code. */
  unsigned(value: number): void;
  /** Writes `se(v)`, a signed Exp-Golomb code. */
  signed(value: number): void;
  /** Writes zero bits up to the next byte boundary. */
  align(): void;
  /** Reserves whole bytes for the caller to fill. It can be called only on a byte boundary. */
  reserve(count: number): Uint8Array;
  /** Writes `rbsp_trailing_bits()` and returns all bytes. */
  finish(): Uint8Array;
}

export const createBitWriter = (capacity: number): BitWriter => {
  const bytes = new Uint8Array(capacity);
  let length = 0;
  let pending = 0;
  let pendingBits = 0;

  const bit = (value: number): void => {
    pending = (pending << 1) | value;
    if (++pendingBits < 8) return;
    bytes[length++] = pending;
    pending = 0;
    pendingBits = 0;
  };
  const bits = (value: number, count: number): void => {
    for (let shift = count - 1; shift >= 0; shift--) bit((value >>> shift) & 1);
  };
  const unsigned = (value: number): void => {
    const width = 32 - Math.clz32(value + 1);
    bits(0, width - 1);
    bits(value + 1, width);
  };
  const align = (): void => {
    while (pendingBits > 0) bit(0);
  };
  return {
    bits,
    unsigned,
    signed: (value) => unsigned(value > 0 ? 2 * value - 1 : -2 * value),
    align,
    reserve: (count) => {
      const room = bytes.subarray(length, length + count);
      length += count;
      return room;
    },
    finish: () => {
      bit(1);
      align();
      return bytes.subarray(0, length);
    },
  };
};
