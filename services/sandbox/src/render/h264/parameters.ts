import { createBitWriter } from "./bits";
import { NAL_PPS, NAL_SPS, nalUnit } from "./nal";

export interface VideoFormat {
  /** Width in pixels, a multiple of 16. */
  width: number;
  /** Height in pixels, a multiple of 16. */
  height: number;
  framesPerSecond: number;
}

export const MACROBLOCK = 16;
/** Frame numbers are counted modulo 2 to the power of this number. */
export const FRAME_NUMBER_BITS = 8;
const BASELINE_PROFILE = 66;
/** constraint_set0 and constraint_set1 select constrained baseline, which every browser decodes. */
const CONSTRAINTS = 0b1100_0000;
const LEVEL_3 = 30;
const BT709 = 1;
const VIDEO_FORMAT_UNSPECIFIED = 5;
const PARAMETER_SET_CAPACITY = 64;

const sequenceParameters = ({ width, height, framesPerSecond }: VideoFormat): Uint8Array => {
  const out = createBitWriter(PARAMETER_SET_CAPACITY);
  out.bits(BASELINE_PROFILE, 8);
  out.bits(CONSTRAINTS, 8);
  out.bits(LEVEL_3, 8);
  out.unsigned(0); // seq_parameter_set_id
  out.unsigned(FRAME_NUMBER_BITS - 4);
  out.unsigned(2); // pic_order_cnt_type: display order equals coding order
  out.unsigned(1); // max_num_ref_frames
  out.bits(0, 1); // gaps_in_frame_num_value_allowed_flag
  out.unsigned(width / MACROBLOCK - 1);
  out.unsigned(height / MACROBLOCK - 1);
  out.bits(1, 1); // frame_mbs_only_flag
  out.bits(1, 1); // direct_8x8_inference_flag
  out.bits(0, 1); // frame_cropping_flag
  out.bits(1, 1); // vui_parameters_present_flag
  out.bits(0, 2); // no aspect ratio, no overscan information
  out.bits(1, 1); // video_signal_type_present_flag
  out.bits(VIDEO_FORMAT_UNSPECIFIED, 3);
  out.bits(0, 1); // video_full_range_flag
  out.bits(1, 1); // colour_description_present_flag
  out.bits(BT709, 8);
  out.bits(BT709, 8);
  out.bits(BT709, 8);
  out.bits(0, 1); // chroma_loc_info_present_flag
  out.bits(1, 1); // timing_info_present_flag
  out.bits(1, 32); // num_units_in_tick
  out.bits(2 * framesPerSecond, 32); // time_scale, which counts fields
  out.bits(1, 1); // fixed_frame_rate_flag
  out.bits(0, 4); // no HRD parameters, no picture structure, no bitstream restriction
  return nalUnit(NAL_SPS, out.finish());
};

const pictureParameters = (): Uint8Array => {
  const out = createBitWriter(PARAMETER_SET_CAPACITY);
  out.unsigned(0); // pic_parameter_set_id
  out.unsigned(0); // seq_parameter_set_id
  out.bits(0, 2); // CAVLC, no bottom field order
  out.unsigned(0); // one slice group
  out.unsigned(0); // num_ref_idx_l0_default_active_minus1
  out.unsigned(0); // num_ref_idx_l1_default_active_minus1
  out.bits(0, 3); // no weighted prediction
  out.signed(0); // pic_init_qp_minus26
  out.signed(0); // pic_init_qs_minus26
  out.signed(0); // chroma_qp_index_offset
  out.bits(1, 1); // deblocking_filter_control_present_flag
  out.bits(0, 2); // no constrained intra prediction, no redundant pictures
  return nalUnit(NAL_PPS, out.finish());
};

/** The AVCDecoderConfigurationRecord (ISO/IEC 14496-15) for the `avcC` box, with a format's parameter sets. */
export const decoderConfiguration = (format: VideoFormat): Uint8Array => {
  const sps = sequenceParameters(format);
  const pps = pictureParameters();
  const lengthOf = (unit: Uint8Array): number[] => [unit.length >> 8, unit.length & 0xff];
  const LENGTHS_OF_FOUR_BYTES = 0xff;
  const ONE_SPS = 0xe1;
  const ONE_PPS = 1;
  return Uint8Array.from([
    1,
    BASELINE_PROFILE,
    CONSTRAINTS,
    LEVEL_3,
    LENGTHS_OF_FOUR_BYTES,
    ONE_SPS,
    ...lengthOf(sps),
    ...sps,
    ONE_PPS,
    ...lengthOf(pps),
    ...pps,
  ]);
};

/** RFC 6381 codec string. */
export const CODEC_NAME = `avc1.${[BASELINE_PROFILE, CONSTRAINTS, LEVEL_3].map((byte) => byte.toString(16).padStart(2, "0")).join("")}`;
