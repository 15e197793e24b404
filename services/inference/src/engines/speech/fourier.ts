/** Discrete Fourier transform without scaling, for lengths that are products of 2, 3, 4 and 5. */

const RADIXES = [5, 4, 3, 2];

export interface Complex {
  re: Float64Array;
  im: Float64Array;
}

export const complex = (length: number): Complex => ({ re: new Float64Array(length), im: new Float64Array(length) });

/** Transforms a signal. `inverse` selects the inverse transform. */
export type Fourier = (from: Complex, to: Complex, inverse: boolean) => void;

/** @param length length of every signal */
export const createFourier = (length: number): Fourier => {
  const angles = Array.from({ length }, (_, index) => (2 * Math.PI * index) / length);
  const cosines = Float64Array.from(angles, Math.cos);
  const sines = Float64Array.from(angles, Math.sin);

  const transform = (from: Complex, to: Complex, size: number, stride: number, offset: number, at: number, sign: number): void => {
    if (size === 1) {
      to.re[at] = from.re[offset]!;
      to.im[at] = from.im[offset]!;
      return;
    }
    const radix = RADIXES.find((one) => size % one === 0)!;
    const part = size / radix;
    for (let k = 0; k < radix; k++) transform(from, to, part, stride * radix, offset + k * stride, at + k * part, sign);
    const re = new Array<number>(radix);
    const im = new Array<number>(radix);
    for (let q = 0; q < part; q++) {
      for (let k = 0; k < radix; k++) {
        const turn = (k * q * stride) % length;
        const [cosine, sine] = [cosines[turn]!, sign * sines[turn]!];
        const [a, b] = [to.re[at + k * part + q]!, to.im[at + k * part + q]!];
        re[k] = a * cosine - b * sine;
        im[k] = a * sine + b * cosine;
      }
      for (let j = 0; j < radix; j++) {
        let [sumRe, sumIm] = [0, 0];
        for (let k = 0; k < radix; k++) {
          const turn = (j * k * part * stride) % length;
          const [cosine, sine] = [cosines[turn]!, sign * sines[turn]!];
          sumRe += re[k]! * cosine - im[k]! * sine;
          sumIm += re[k]! * sine + im[k]! * cosine;
        }
        to.re[at + j * part + q] = sumRe;
        to.im[at + j * part + q] = sumIm;
      }
    }
  };

  return (from, to, inverse) => transform(from, to, length, 1, 0, 0, inverse ? 1 : -1);
};
