import { AAC, H264, makeMp4, open, decimalText } from "../ffmpeg/make";
import { inputArguments } from "../ffmpeg/formats";
import { COLOURS, sound, wholeFrames, type Frame } from "../ffmpeg/filters";
import { openAudio, type Source } from "../ffmpeg/probe";
import { openImage, reading } from "../images/open";
import { fileAt, filesAt, inFolder, InputError, number, text, type Job, type Operation } from "../job";

/** Shows images in sequence with slow movement. Timing comes from seconds or from audio clips. */

/** Zoom range of a movement. */
const ZOOM = 0.12;
/** Movement is rendered on larger images, so that steps can be smaller than a pixel. */
const OVERSIZE = 2;
const ENDING_SECONDS = 1;

/** Start and end of an image, in frames. Each fade is shared equally by two images. */
interface Slide {
  path: string;
  from: number;
  to: number;
}

/** Scales images to fill the frame, large enough for the movement. */
const prepared = async (job: Job, { width, height }: Frame, moves: boolean): Promise<string[]> => {
  const times = moves ? OVERSIZE : 1;
  const paths: string[] = [];
  for (const [index, file] of filesAt(job, "images").entries()) {
    const picture = await openImage(job, { ...file, port: `images.${index}` });
    const path = inFolder(job, `slide-${index}.jpg`);
    const size = { width: width * times, height: height * times };
    await reading(picture.port, () =>
      picture
        .pipeline()
        .flatten({ background: "#000000" })
        .resize({ ...size, fit: "cover" })
        .jpeg({ quality: 92 })
        .toFile(path),
    );
    paths.push(path);
  }
  return paths;
};

/** Alternates between zooming in and zooming out, in changing directions. */
const movement = (index: number, frames: number, { width, height, fps }: Frame): string => {
  const progress = `(on/${Math.max(1, frames - 1)})`;
  const eased = `(${progress}*${progress}*(3-2*${progress}))`;
  const zoom = index % 2 === 0 ? `1+${ZOOM}*${eased}` : `1+${ZOOM}*(1-${eased})`;
  const [across, down] = [
    [0.5, 0.5],
    [0.7, 0.4],
    [0.3, 0.6],
    [0.5, 0.3],
  ][index % 4] as [number, number];
  return `zoompan=z='${zoom}':x='(iw-iw/zoom)*${across}':y='(ih-ih/zoom)*${down}':d=${frames}:s=${width}x${height}:fps=${decimalText(fps)}`;
};

const still = (frames: number, { fps }: Frame): string =>
  `fps=${decimalText(fps)},tpad=stop_mode=clone:stop=${frames},trim=end_frame=${frames},setpts=N/(${decimalText(fps)}*TB)`;

/** Returns the seconds per image, and the audio. @throws InputError */
const rhythmOf = async (job: Job, count: number): Promise<{ each: number[]; one?: Source; several: Source[] }> => {
  const audios = filesAt(job, "audios");
  const several: Source[] = [];
  for (const [index, file] of audios.entries()) several.push(await openAudio(job, { ...file, port: `audios.${index}` }));
  const one = filesAt(job, "audio").length > 0 ? await openAudio(job, fileAt(job, "audio")) : undefined;
  const isByAudio = text(job, "timing") === "audio";
  if (several.length > 0) {
    if (several.length !== count) throw new InputError(`audios: there are ${several.length}, and ${count} images`);
    return { each: several.map(({ seconds }) => seconds), several };
  }
  if (isByAudio && !one) throw new InputError("timing: audio or audios is needed");
  const seconds = isByAudio && one ? one.seconds / count : number(job, "seconds");
  return { each: Array.from({ length: count }, () => seconds), ...(one ? { one } : {}), several };
};

const soundsOf = ({ one, several }: { one?: Source; several: Source[] }, first: number, lengths: readonly number[]): string[] => {
  const whole = lengths.reduce((sum, length) => sum + length, 0);
  if (several.length > 0)
    return [
      ...several.map((source, index) => sound(first + index, source, lengths[index]!, `s${index}`)),
      `${several.map((_, index) => `[s${index}]`).join("")}concat=n=${several.length}:v=0:a=1[a]`,
    ];
  if (!one) return [];
  const fade = Math.min(ENDING_SECONDS, whole / 2);
  // Audio that is cut off fades out.
  const ending = one.seconds > whole ? `,afade=t=out:st=${decimalText(whole - fade)}:d=${decimalText(fade)}` : "";
  return [sound(first, one, whole, "a", ending)];
};

export const slideshow: Operation = async (job) => {
  const frame: Frame = {
    width: 2 * Math.round(number(job, "width") / 2),
    height: 2 * Math.round(number(job, "height") / 2),
    fps: number(job, "fps"),
  };
  const moves = text(job, "motion") === "zoom";
  const paths = await prepared(job, frame, moves);
  const rhythm = await rhythmOf(job, paths.length);
  const ends = rhythm.each
    .reduce<number[]>((times, seconds) => [...times, (times.at(-1) ?? 0) + seconds], [])
    .map((time) => wholeFrames(time, frame));
  const starts = [0, ...ends.slice(0, -1)];
  const shortest = Math.min(...ends.map((end, index) => end - starts[index]!));
  const isFaded = text(job, "transition") === "fade" && paths.length > 1;
  // Half of a fade lies on each side of a cut.
  const half = isFaded ? Math.min(Math.round((number(job, "fadeSeconds") * frame.fps) / 2), Math.floor(shortest / 2)) : 0;
  const slides = paths.map((path, index): Slide => {
    const [isFirst, isLast] = [index === 0, index === paths.length - 1];
    return { path, from: starts[index]! - (isFirst ? 0 : half), to: ends[index]! + (isLast ? 0 : half) };
  });
  const filters = slides.map(({ from, to }, index) => {
    const shownAs = moves ? movement(index, to - from, frame) : still(to - from, frame);
    return `[${index}:v:0]${shownAs},setsar=1,${COLOURS},settb=1/${decimalText(frame.fps)}[v${index}]`;
  });
  let last = "v0";
  if (half === 0) {
    filters.push(`${slides.map((_, index) => `[v${index}]`).join("")}concat=n=${slides.length}:v=1:a=0[v]`);
    last = "v";
  } else
    for (let index = 1; index < slides.length; index += 1) {
      const offset = slides[index]!.from / frame.fps;
      filters.push(
        `[${last}][v${index}]xfade=transition=fade:duration=${decimalText((2 * half) / frame.fps)}:offset=${decimalText(offset)}[x${index}]`,
      );
      last = `x${index}`;
    }
  const lengths = ends.map((end, index) => (end - starts[index]!) / frame.fps);
  const sounds = soundsOf(rhythm, slides.length, lengths);
  const sources = [...rhythm.several, ...(rhythm.one && rhythm.several.length === 0 ? [rhythm.one] : [])];
  return makeMp4(job, [
    ...slides.flatMap(({ path }) => inputArguments(path, "jpeg_pipe", "-framerate", decimalText(frame.fps))),
    ...sources.flatMap((source) => open(source)),
    ...["-filter_complex", [...filters, ...sounds].join(";"), "-map", `[${last}]`],
    ...(sounds.length > 0 ? ["-map", "[a]", ...AAC] : []),
    ...H264,
  ]);
};
