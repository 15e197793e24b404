import type { JobProgress } from "@nodeloom/providers";
import { TIMING } from "../run/timing";

/** Previews of outputs that a provider is still making. Only the newest one is kept. */

export const NODE_PREVIEW = "node.preview";

/** Progress of a call. It is sent once and never recorded. */
export interface Preview {
  percent?: number;
  /** A `data:` URL. */
  image?: string;
}

const previewOf = ({ percent, image }: JobProgress): Preview => ({
  ...(percent === undefined ? {} : { percent }),
  ...(image === undefined ? {} : { image: `data:${image.contentType};base64,${image.bytes.toString("base64")}` }),
});

/** Sends at most one preview in an interval, and drops the ones between. */
export const createPreviewWriter = (isFollowed: () => boolean, tell: (preview: Preview) => void) => {
  let newest: JobProgress = {};
  /** Members that have changed since they were sent. */
  let unsent: JobProgress = {};
  let timer: NodeJS.Timeout | undefined;

  const flush = (): void => {
    const preview = previewOf(unsent);
    unsent = {};
    timer = undefined;
    if (Object.keys(preview).length === 0 || !isFollowed()) return;
    tell(preview);
    timer = setTimeout(flush, TIMING.previewEvery);
  };
  return {
    tellAll: (): void => {
      unsent = newest;
      if (timer === undefined) flush();
    },
    write: (progress: JobProgress): void => {
      newest = { ...newest, ...progress };
      unsent = { ...unsent, ...progress };
      if (timer === undefined && isFollowed()) flush();
    },
    close: (): void => {
      clearTimeout(timer);
      [newest, unsent] = [{}, {}];
    },
  };
};
