import { createEncoder, type Frame } from "./h264/encoder";
import type { VideoFormat } from "./h264/parameters";
import { labelHeight } from "./label";
import { muxMp4 } from "./mp4";
import { paint } from "./picture";
import { createRandom } from "./random";
import { fromHsl, type Raster } from "./raster";

const WIDTH = 256;
const HEIGHT = 144;
const BALL_RADIUS = 13;
const BAR_HEIGHT = 4;
const LABEL_SCALE = 1;

type Yuv = readonly [y: number, u: number, v: number];

/** Converts RGB to BT.709 in limited range. */
const toYuv = (red: number, green: number, blue: number): Yuv => [
  Math.round(16 + 0.1826 * red + 0.6142 * green + 0.062 * blue),
  Math.round(128 - 0.1006 * red - 0.3386 * green + 0.4392 * blue),
  Math.round(128 + 0.4392 * red - 0.3989 * green - 0.0403 * blue),
];

const toFrame = ({ width, height, data }: Raster): Frame => {
  const frame: Frame = {
    y: new Uint8Array(width * height),
    u: new Uint8Array((width * height) / 4),
    v: new Uint8Array((width * height) / 4),
  };
  for (let row = 0; row < height; row++) {
    for (let column = 0; column < width; column++) {
      const pixel = row * width + column;
      const [y, u, v] = toYuv(data[pixel * 3]!, data[pixel * 3 + 1]!, data[pixel * 3 + 2]!);
      frame.y[pixel] = y;
      if (row % 2 || column % 2) continue;
      const chroma = (row >> 1) * (width >> 1) + (column >> 1);
      frame.u[chroma] = u;
      frame.v[chroma] = v;
    }
  }
  return frame;
};

const drawPixel = (frame: Frame, column: number, row: number, [y, u, v]: Yuv): void => {
  frame.y[row * WIDTH + column] = y;
  const chroma = (row >> 1) * (WIDTH >> 1) + (column >> 1);
  frame.u[chroma] = u;
  frame.v[chroma] = v;
};

const drawBall = (frame: Frame, centreX: number, centreY: number, colour: Yuv): void => {
  for (let row = centreY - BALL_RADIUS; row <= centreY + BALL_RADIUS; row++) {
    const half = Math.floor(Math.sqrt(BALL_RADIUS ** 2 - (row - centreY) ** 2));
    for (let column = centreX - half; column <= centreX + half; column++) drawPixel(frame, column, row, colour);
  }
};

const drawProgress = (frame: Frame, progress: number, colour: Yuv): void => {
  for (let row = HEIGHT - BAR_HEIGHT; row < HEIGHT; row++)
    for (let column = 0; column < Math.round(WIDTH * progress); column++) drawPixel(frame, column, row, colour);
};

/** Creates a path inside the frame and below the label, from two oscillations whose frequencies depend on the seed. */
const createPath = (seed: string): ((seconds: number) => { x: number; y: number }) => {
  const random = createRandom(seed);
  const [speedX, speedY] = [random.between(0.12, 0.3), random.between(0.15, 0.4)];
  const [phaseX, phaseY] = [random.next(), random.next()];
  const between = (low: number, high: number, turns: number): number =>
    Math.round(low + ((high - low) * (1 + Math.sin(2 * Math.PI * turns))) / 2);
  const top = labelHeight(LABEL_SCALE) + BALL_RADIUS;
  return (seconds) => ({
    x: between(BALL_RADIUS, WIDTH - 1 - BALL_RADIUS, phaseX + speedX * seconds),
    y: between(top, HEIGHT - 1 - BAR_HEIGHT - BALL_RADIUS, phaseY + speedY * seconds),
  });
};

/** Renders an MP4 file of exactly `seconds`. A ball moves over a picture, and a bar shows the elapsed time. */
export const renderVideo = (seed: string, seconds: number, framesPerSecond: number): Promise<Buffer> => {
  const format: VideoFormat = { width: WIDTH, height: HEIGHT, framesPerSecond };
  const background = toFrame(paint(seed, WIDTH, HEIGHT));
  const colour = toYuv(...fromHsl(createRandom(seed).next(), 0.9, 0.85));
  const path = createPath(seed);
  const encode = createEncoder(format);
  const count = seconds * framesPerSecond;
  const frames = Array.from({ length: count }, (_, index) => {
    const frame: Frame = { y: background.y.slice(), u: background.u.slice(), v: background.v.slice() };
    const { x, y } = path(index / framesPerSecond);
    drawBall(frame, x, y, colour);
    drawProgress(frame, (index + 1) / count, colour);
    return encode(frame);
  });
  return muxMp4(format, frames);
};
