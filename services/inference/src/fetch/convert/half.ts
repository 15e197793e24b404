/** Converts numbers to IEEE 754 half precision, in which weights are stored. */

const EXPONENT_BIAS = 15;
const MANTISSA_BITS = 10;

const table = new Float32Array(2 ** 16);
for (let bits = 0; bits < table.length; bits++) {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> MANTISSA_BITS) & 0x1f;
  const mantissa = bits & 0x3ff;
  if (exponent === 0) table[bits] = sign * mantissa * 2 ** (1 - EXPONENT_BIAS - MANTISSA_BITS);
  else if (exponent === 0x1f) table[bits] = mantissa === 0 ? sign * Infinity : NaN;
  else table[bits] = sign * (1 + mantissa / 2 ** MANTISSA_BITS) * 2 ** (exponent - EXPONENT_BIAS);
}

export const fromHalf = (halves: Uint16Array): Float32Array => Float32Array.from(halves, (bits) => table[bits]!);

const float = new Float32Array(1);
const word = new Uint32Array(float.buffer);

/** Rounds to nearest, with ties to even. */
const halfOf = (value: number): number => {
  float[0] = value;
  const bits = word[0]!;
  const sign = (bits >>> 16) & 0x8000;
  const exponent = ((bits >>> 23) & 0xff) - 127 + EXPONENT_BIAS;
  if (exponent >= 0x1f) return sign | 0x7c00 | ((bits & 0x7fffffff) > 0x7f800000 ? 0x200 : 0);
  if (exponent < -MANTISSA_BITS) return sign;
  const mantissa = exponent > 0 ? bits & 0x7fffff : (bits & 0x7fffff) | 0x800000;
  const shift = exponent > 0 ? 13 : 14 - exponent;
  const base = (exponent > 0 ? exponent << MANTISSA_BITS : 0) + (mantissa >>> shift);
  const rest = mantissa & ((1 << shift) - 1);
  const middle = 1 << (shift - 1);
  const isUp = rest > middle || (rest === middle && (base & 1) === 1);
  return sign | (base + (isUp ? 1 : 0));
};

export const toHalf = (values: Float32Array): Uint16Array => Uint16Array.from(values, halfOf);
