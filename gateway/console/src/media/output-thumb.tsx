import { MaskView } from "./mask-view";
import { Thumb, type ThumbProps } from "./thumb";

/** Preview of an output of a run, which can be a mask. It is apart from `Thumb`, because the first page shows no masks. */
export const OutputThumb = (props: ThumbProps) =>
  props.file?.isMask === true ? <MaskView {...props} file={props.file} /> : <Thumb {...props} />;
