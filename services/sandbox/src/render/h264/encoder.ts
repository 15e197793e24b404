import { createBitWriter, type BitWriter } from "./bits";
import { lengthPrefixed, NAL_IDR_SLICE, NAL_SLICE, nalUnit } from "./nal";
import { FRAME_NUMBER_BITS, MACROBLOCK, type VideoFormat } from "./parameters";

/** Planar YUV 4:2:0 in limited range: Y in 16..235, U and V in 16..240. */
export interface Frame {
  y: Uint8Array;
  u: Uint8Array;
  v: Uint8Array;
}

export interface EncodedFrame {
  /** One length-prefixed slice, as stored in MP4. */
  data: Uint8Array;
  isKey: boolean;
}

const CHROMA_BLOCK = MACROBLOCK / 2;
const MACROBLOCK_BYTES = MACROBLOCK * MACROBLOCK + 2 * CHROMA_BLOCK * CHROMA_BLOCK;
/** Maximum bytes of the slice header and the bits before each macroblock (skip run, type, alignment). */
const OVERHEAD_BYTES = 8;
const SLICE_HEADER_BYTES = 32;
const SLICE_P = 5;
const SLICE_I = 7;
const I_PCM = 25;
/** In a P slice, intra macroblock types follow the five inter types. */
const I_PCM_IN_P = 5 + I_PCM;
const DEBLOCKING_OFF = 1;

const copyBlock = (plane: Uint8Array, stride: number, x: number, y: number, size: number, target: Uint8Array, at: number): number => {
  for (let row = 0; row < size; row++) {
    const start = (y + row) * stride + x;
    target.set(plane.subarray(start, start + size), at);
    at += size;
  }
  return at;
};

const isBlockEqual = (one: Uint8Array, other: Uint8Array, stride: number, x: number, y: number, size: number): boolean => {
  for (let row = 0; row < size; row++) {
    const start = (y + row) * stride + x;
    for (let at = start; at < start + size; at++) if (one[at] !== other[at]) return false;
  }
  return true;
};

/** True if rows of a plane are equal. A native comparison is much faster than a loop. */
const areRowsEqual = (one: Uint8Array, other: Uint8Array, stride: number, row: number, count: number): boolean =>
  Buffer.compare(one.subarray(row * stride, (row + count) * stride), other.subarray(row * stride, (row + count) * stride)) === 0;

const writeSliceHeader = (out: BitWriter, frameNumber: number, isKey: boolean): void => {
  out.unsigned(0); // first_mb_in_slice
  out.unsigned(isKey ? SLICE_I : SLICE_P);
  out.unsigned(0); // pic_parameter_set_id
  out.bits(frameNumber, FRAME_NUMBER_BITS);
  if (isKey) {
    out.unsigned(0); // idr_pic_id
    out.bits(0, 2); // no_output_of_prior_pics_flag, long_term_reference_flag
  } else {
    out.bits(0, 2); // num_ref_idx_active_override_flag, ref_pic_list_modification_flag_l0
    out.bits(0, 1); // adaptive_ref_pic_marking_mode_flag
  }
  out.signed(0); // slice_qp_delta
  out.unsigned(DEBLOCKING_OFF);
};

/**
 * A baseline H.264 encoder with two kinds of macroblocks: I_PCM stores samples unchanged, P_Skip repeats those of the previous frame. It is
 * lossless and fast, needs no transforms, and produces small files for static content. It keeps each frame for comparison, so callers must
 * not change frames after passing them.
 */
export const createEncoder = ({ width, height }: VideoFormat): ((frame: Frame) => EncodedFrame) => {
  const columns = width / MACROBLOCK;
  const rows = height / MACROBLOCK;
  const macroblocks = columns * rows;
  let previous: Frame | undefined;
  let frameNumber = 0;

  const isUnchanged = (frame: Frame, reference: Frame, x: number, y: number): boolean =>
    isBlockEqual(frame.y, reference.y, width, x, y, MACROBLOCK) &&
    isBlockEqual(frame.u, reference.u, width / 2, x / 2, y / 2, CHROMA_BLOCK) &&
    isBlockEqual(frame.v, reference.v, width / 2, x / 2, y / 2, CHROMA_BLOCK);

  const writeMacroblock = (out: BitWriter, frame: Frame, type: number, x: number, y: number): void => {
    out.unsigned(type);
    out.align();
    const room = out.reserve(MACROBLOCK_BYTES);
    let at = copyBlock(frame.y, width, x, y, MACROBLOCK, room, 0);
    at = copyBlock(frame.u, width / 2, x / 2, y / 2, CHROMA_BLOCK, room, at);
    copyBlock(frame.v, width / 2, x / 2, y / 2, CHROMA_BLOCK, room, at);
  };

  const isRowUnchanged = (frame: Frame, reference: Frame, y: number): boolean =>
    areRowsEqual(frame.y, reference.y, width, y, MACROBLOCK) &&
    areRowsEqual(frame.u, reference.u, width / 2, y / 2, CHROMA_BLOCK) &&
    areRowsEqual(frame.v, reference.v, width / 2, y / 2, CHROMA_BLOCK);

  const changedMacroblocks = (frame: Frame): number[] => {
    const changed: number[] = [];
    for (let row = 0; row < rows; row++) {
      if (previous && isRowUnchanged(frame, previous, row * MACROBLOCK)) continue;
      for (let column = 0; column < columns; column++) {
        if (previous && isUnchanged(frame, previous, column * MACROBLOCK, row * MACROBLOCK)) continue;
        changed.push(row * columns + column);
      }
    }
    return changed;
  };

  return (frame) => {
    const isKey = previous === undefined;
    const coded = changedMacroblocks(frame);
    const out = createBitWriter(SLICE_HEADER_BYTES + coded.length * (MACROBLOCK_BYTES + OVERHEAD_BYTES));
    writeSliceHeader(out, frameNumber, isKey);
    let next = 0;
    for (const index of coded) {
      if (!isKey) out.unsigned(index - next); // mb_skip_run
      writeMacroblock(out, frame, isKey ? I_PCM : I_PCM_IN_P, (index % columns) * MACROBLOCK, Math.floor(index / columns) * MACROBLOCK);
      next = index + 1;
    }
    if (!isKey && next < macroblocks) out.unsigned(macroblocks - next);
    frameNumber = (frameNumber + 1) % 2 ** FRAME_NUMBER_BITS;
    previous = frame;
    return { data: lengthPrefixed(nalUnit(isKey ? NAL_IDR_SLICE : NAL_SLICE, out.finish())), isKey };
  };
};
