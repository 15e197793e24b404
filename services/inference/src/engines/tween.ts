import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { ffmpegIn } from "./decode";
import type { LoadEngine } from "./engine";
import type { Onnx, Session, Sharp, Tensor } from "./libraries";
import { fromTensor, openPicture, openSession, rgbOf, toTensor, type Pixels } from "./pictures";

const MAX_PIXELS = 24_000_000;
/** RIFE needs sides that are multiples of this. */
const STEP = 64;
const LONGEST_SIDE = 640;
const ERROR_CHARACTERS = 500;

/** Frame size: the size of the first image, up to the bound. */
const sizeOf = (width: number, height: number): { width: number; height: number } => {
  const shrink = Math.min(1, LONGEST_SIDE / Math.max(width, height));
  const side = (length: number): number => Math.max(STEP, Math.round((length * shrink) / STEP) * STEP);
  return { width: side(width), height: side(height) };
};

interface Encoder {
  write(frame: Pixels): Promise<void>;
  /** Resolves when the file is complete. */
  end(): Promise<void>;
}

/** Starts ffmpeg to encode H.264 in MP4. */
const startEncoder = (ffmpeg: string, file: string, { width, height }: Pick<Pixels, "width" | "height">, rate: number): Encoder => {
  const source = ["-f", "rawvideo", "-pix_fmt", "rgb24", "-s", `${width}x${height}`, "-framerate", String(rate), "-i", "pipe:0"];
  const target = ["-c:v", "libx264", "-crf", "18", "-pix_fmt", "yuv420p", "-movflags", "+faststart", "-threads", "1", file];
  const child = spawn(ffmpeg, ["-y", "-loglevel", "error", ...source, ...target], { stdio: ["pipe", "ignore", "pipe"] });
  let output = "";
  child.stderr.on("data", (piece: Buffer) => (output = (output + piece.toString()).slice(-ERROR_CHARACTERS)));
  // Ignored, because the exit code reports a broken pipe.
  child.stdin.on("error", () => undefined);
  const end = new Promise<void>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => (code === 0 ? resolve() : reject(new Error(`ffmpeg ended with ${code}: ${output}`))));
  });
  end.catch(() => undefined);
  return {
    write: async ({ data }) => {
      if (!child.stdin.write(data)) await Promise.race([once(child.stdin, "drain"), end]);
    },
    end: () => {
      child.stdin.end();
      return end;
    },
  };
};

const between = async ({ onnx, session }: { onnx: Onnx; session: Session }, from: Tensor, to: Tensor, share: number): Promise<Pixels> => {
  const t = new onnx.Tensor("float32", Float32Array.of(share), [1]);
  const { out } = await session.run({ img0: from, img1: to, t });
  return fromTensor(out!);
};

/** Generates a video between two images with frames computed by RIFE. */
export const loadTween: LoadEngine = async (context) => {
  const sharp = await context.library<Sharp>("sharp");
  const model = await openSession(context, join(context.weights("tween"), "rife.onnx"));
  const ffmpeg = await ffmpegIn(context.weights("ffmpeg"));
  return {
    run: async ({ inputs, files, folder }, { progress }) => {
      const { seconds, framesPerSecond } = inputs as { seconds: number; framesPerSecond: number };
      const first = await openPicture(sharp, files.image!, MAX_PIXELS);
      const size = sizeOf(first.width, first.height);
      const last = await openPicture(sharp, files.endImage!, MAX_PIXELS);
      const fitted = ({ open }: typeof first): Promise<Pixels> => rgbOf(open().resize(size.width, size.height, { fit: "cover" }));
      const [start, end] = [await fitted(first), await fitted(last)];
      const [from, to] = [toTensor(model.onnx, start), toTensor(model.onnx, end)];
      const encoder = startEncoder(ffmpeg, join(folder, "tween.mp4"), size, framesPerSecond);
      const steps = Math.max(2, Math.round(seconds * framesPerSecond)) - 1;
      for (let step = 0; step <= steps; step++) {
        const frame = step === 0 ? start : step === steps ? end : await between(model, from, to, step / steps);
        await encoder.write(frame);
        progress(step / steps);
      }
      await encoder.end();
      return { files: [{ name: "tween.mp4", contentType: "video/mp4" }] };
    },
  };
};
