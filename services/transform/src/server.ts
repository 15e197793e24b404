import { mediaOperation } from "@nodeloom/kernel";
import { unary } from "@nodeloom/platform";
import { transform } from "@nodeloom/proto";
import type { Program } from "./ffmpeg/program";

export interface Handlers {
  run(request: transform.RunRequest, signal: AbortSignal): Promise<transform.RunResponse>;
  preview(request: transform.RenderPreviewRequest, signal: AbortSignal): Promise<transform.RenderPreviewResponse>;
  measure(request: transform.MeasureRequest, signal: AbortSignal): Promise<transform.MeasureResponse>;
  ffmpeg: Pick<Program, "status">;
  imageVersion: string;
}

const STATES = {
  ready: transform.ProgramState.PROGRAM_STATE_READY,
  downloading: transform.ProgramState.PROGRAM_STATE_DOWNLOADING,
  away: transform.ProgramState.PROGRAM_STATE_AWAY,
} as const;

export const transformHandlers = ({ run, preview, measure, ffmpeg, imageVersion }: Handlers): transform.TransformServiceServer => ({
  run: unary(async (request, signal) => {
    const { outputs, warnings } = await run(request, signal);
    const isByFfmpeg = mediaOperation(request.operation)?.program === "ffmpeg";
    return transform.RunResponse.fromPartial({
      outputs,
      warnings,
      programVersion: isByFfmpeg ? (await ffmpeg.status()).version : imageVersion,
    });
  }),
  renderPreview: unary(preview),
  measure: unary(measure),
  getStatus: unary(async () => {
    const { state, version, reason, retryAfterSeconds } = await ffmpeg.status();
    return transform.GetStatusResponse.fromPartial({
      images: { state: transform.ProgramState.PROGRAM_STATE_READY, version: imageVersion },
      ffmpeg: { state: STATES[state], version, reason, retryAfterSeconds },
    });
  }),
});
