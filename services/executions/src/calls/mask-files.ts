import { transform as proto } from "@nodeloom/proto";
import type { InputFiles } from "@nodeloom/providers";
import type { Transform } from "../clients";
import type { ModelCall } from "../run/calls";
import { TIMING } from "../run/timing";
import { inputFailed } from "./failures";
import { ownerOf } from "./making";

/** Converts masks and vectors to the form that a provider takes. */

export interface MaskFile {
  call: ModelCall;
  /** Name of the input. */
  name: string;
  selected: NonNullable<InputFiles["mask"]>["selected"];
  /** Keys of stored files. Without an image, the mask keeps its size. */
  mask: string;
  image: string | undefined;
}

export type ConvertMask = (file: MaskFile) => Promise<string>;

export interface VectorFile extends Pick<MaskFile, "call" | "name"> {
  /** Position among the files of the call. */
  index: number;
  /** Key of the stored vector (SVG). */
  key: string;
}

export type ConvertVector = (file: VectorFile) => Promise<string>;

/** Returns the address of a PNG of the vector. Repeating a call returns the file that was stored first. */
export const createVectorConversion =
  (transform: Pick<Transform, "run">): ConvertVector =>
  async ({ call, name, index, key }) => {
    const request = proto.RunRequest.fromPartial({
      callId: `${call.executionId}-${call.nodeIndex}-${call.item}-vector-${index}`,
      userId: ownerOf(call),
      operation: "image-convert",
      settingsJson: JSON.stringify({ format: "png" }),
      inputs: [{ port: "image", key }],
    });
    const { outputs } = await transform.run(request, { deadlineMs: TIMING.transform });
    const url = outputs[0]?.object?.url;
    if (url === undefined) throw inputFailed(`${call.model}: input ${name}: the vector image could not be converted`);
    return url;
  };

/** Returns the address of the converted mask, at the size of its image. Repeating a call returns the file that was stored first. */
export const createMaskConversion =
  (transform: Pick<Transform, "run">): ConvertMask =>
  async ({ call, name, selected, mask, image }) => {
    const request = proto.RunRequest.fromPartial({
      callId: `${call.executionId}-${call.nodeIndex}-${call.item}-${name}-${selected}`,
      userId: ownerOf(call),
      operation: "image-from-mask",
      settingsJson: JSON.stringify({ form: selected }),
      inputs: [{ port: "mask", key: mask }, ...(image === undefined ? [] : [{ port: "image", key: image }])],
    });
    const { outputs } = await transform.run(request, { deadlineMs: TIMING.transform });
    const url = outputs[0]?.object?.url;
    if (url === undefined) throw inputFailed(`${call.model}: input ${name}: the mask could not be converted`);
    return url;
  };
