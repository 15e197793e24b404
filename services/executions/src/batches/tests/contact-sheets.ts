/** Pictures of videos' frames, by which judges see videos. */
import { DomainError, TEST_BOUNDS, type MediaUrls } from "@nodeloom/kernel";
import { media as mediaProto, transform as proto } from "@nodeloom/proto";
import type { Media, Transform } from "../../clients";
import { TIMING } from "../../run/timing";

export interface ContactSheetOptions {
  media: Pick<Media, "getObjectsByKey">;
  transform: Pick<Transform, "run">;
  urls: MediaUrls;
}

/** Longer side of a frame in pixels. */
const FRAME_SIDE = 768;
const COLUMNS = 2;

const cellOf = ({ width = 1, height = 1 }: mediaProto.StoredObject): { cellWidth: number; cellHeight: number } => {
  const longer = Math.max(width, height);
  const [cellWidth, cellHeight] = [width, height].map((side) => Math.max(16, Math.round((side / longer) * FRAME_SIDE))) as [number, number];
  return { cellWidth, cellHeight };
};

/**
 * Returns the address of one picture with frames of a video, evenly spaced in time. Repeating a call returns the picture that was stored
 * first. It is erased with the run that made the video, or else with the run that is judged.
 * @throws DomainError if the video was deleted or can't be read
 */
export const createContactSheets =
  ({ media, transform, urls }: ContactSheetOptions) =>
  async (url: string, executionId: string, userId: string): Promise<string> => {
    const { objects } = await media.getObjectsByKey({ keys: urls.keysIn(JSON.stringify(url)) });
    const video = objects.find(({ ownerId }) => ownerId === userId);
    if (!video?.durationMs) throw new DomainError("failed", "EXECUTION_FAILED", "the video was deleted, or its duration can't be read");
    const isGenerated = video.origin === mediaProto.Origin.ORIGIN_GENERATED;
    const id = isGenerated ? video.id : `${executionId}-${video.id}`;
    const make = async (callId: string, operation: string, settings: object, inputs: { port: string; key: string }[]) => {
      const request = proto.RunRequest.fromPartial({ callId, userId, operation, settingsJson: JSON.stringify(settings), inputs });
      const { outputs } = await transform.run(request, { deadlineMs: TIMING.transform });
      const object = outputs[0]?.object;
      if (!object) throw new DomainError("failed", "EXECUTION_FAILED", "the frames of the video can't be read");
      return object;
    };
    const seconds = video.durationMs / 1_000;
    const frames = await Promise.all(
      Array.from({ length: TEST_BOUNDS.frames }, (_, index) => {
        const at = Math.round(((index + 0.5) / TEST_BOUNDS.frames) * seconds * 1_000) / 1_000;
        return make(`${id}-frame-${index + 1}`, "video-frame", { at }, [{ port: "video", key: video.key }]);
      }),
    );
    const grid = { columns: COLUMNS, ...cellOf(video), fit: "contain", background: "#000000" };
    const inputs = frames.map(({ key }) => ({ port: "images", key }));
    return (await make(`${id}-frames`, "image-grid", grid, inputs)).url;
  };
