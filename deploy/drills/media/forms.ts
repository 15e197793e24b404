import { clip, tone, withFfmpeg } from "../../../test-support/clips";

/** Files in every common format with known contents: a second of red, or of a tone. */

export interface Form {
  name: string;
  make(): Buffer;
  size?: [number, number];
  hasSound?: boolean;
}

const second = { seconds: 2, size: "320x180", tone: 440 };
const turned = (degrees: string): Buffer =>
  withFfmpeg(["-display_rotation", degrees, "-i", "in.mp4", "-c", "copy"], "out.mp4", { "in.mp4": clip({ ...second }) });
const uneven = (): Buffer =>
  withFfmpeg(
    [
      "-f",
      "lavfi",
      "-i",
      "color=c=red:s=320x180:r=30:d=2",
      "-vf",
      "select='not(mod(n,3))+gt(random(1),0.5)'",
      "-fps_mode",
      "vfr",
      "-c:v",
      "libx264",
      "-pix_fmt",
      "yuv420p",
    ],
    "out.mp4",
  );

export const VIDEO_FORMS: readonly Form[] = [
  { name: "H.264 in MP4", make: () => clip(second), hasSound: true },
  { name: "H.264 of 10 bits", make: () => clip({ ...second, video: ["-c:v", "libx264", "-pix_fmt", "yuv420p10le"] }), hasSound: true },
  { name: "H.264 of full chroma", make: () => clip({ ...second, video: ["-c:v", "libx264", "-pix_fmt", "yuv444p"] }), hasSound: true },
  {
    name: "HEVC in MP4",
    make: () => clip({ ...second, video: ["-c:v", "libx265", "-x265-params", "log-level=error", "-tag:v", "hvc1"] }),
    hasSound: true,
  },
  {
    name: "VP9 in WebM",
    make: () => clip({ ...second, video: ["-c:v", "libvpx-vp9", "-deadline", "realtime"], audio: ["-c:a", "libopus"], extension: "webm" }),
    hasSound: true,
  },
  {
    name: "VP8 in WebM",
    make: () => clip({ ...second, video: ["-c:v", "libvpx"], audio: ["-c:a", "libvorbis"], extension: "webm" }),
    hasSound: true,
  },
  { name: "AV1 in MP4", make: () => clip({ ...second, video: ["-c:v", "libaom-av1", "-cpu-used", "8"] }), hasSound: true },
  {
    name: "ProRes in MOV",
    make: () => clip({ ...second, video: ["-c:v", "prores_ks"], audio: ["-c:a", "pcm_s16le"], extension: "mov" }),
    hasSound: true,
  },
  { name: "a phone's, turned", make: () => turned("90"), size: [180, 320], hasSound: true },
  { name: "a phone's, upside down", make: () => turned("180"), hasSound: true },
  {
    name: "of pictures that are not square",
    make: () => clip({ ...second, more: ["-vf", "setsar=2/1"] }),
    size: [640, 180],
    hasSound: true,
  },
  { name: "at an uneven pace", make: uneven },
  { name: "without sound", make: () => clip({ seconds: 2, size: "320x180" }) },
  { name: "with 5.1 channels", make: () => clip({ ...second, audio: ["-c:a", "aac", "-ac", "6"] }), hasSound: true },
  {
    name: "with sound of 22 kHz, mono",
    make: () => clip({ ...second, audio: ["-c:a", "aac", "-ac", "1", "-ar", "22050"] }),
    hasSound: true,
  },
  { name: "at 29.97 pictures a second", make: () => clip({ ...second, fps: 29.97 }), hasSound: true },
  { name: "at 60 pictures a second", make: () => clip({ ...second, fps: 60 }), hasSound: true },
  { name: "an animated GIF", make: () => withFfmpeg(["-f", "lavfi", "-i", "color=c=red:s=320x180:r=10:d=2"], "out.gif") },
];

export const AUDIO_FORMS: readonly Form[] = [
  { name: "WAV", make: () => tone(440, 2) },
  { name: "WAV at 8 kHz", make: () => tone(440, 2, "wav", ["-ar", "8000"]) },
  { name: "WAV of 24 bits", make: () => tone(440, 2, "wav", ["-c:a", "pcm_s24le"]) },
  { name: "WAV of floats", make: () => tone(440, 2, "wav", ["-c:a", "pcm_f32le"]) },
  { name: "MP3", make: () => tone(440, 2, "mp3") },
  {
    name: "MP3 with a cover",
    make: () =>
      withFfmpeg(
        ["-i", "a.mp3", "-i", "cover.png", "-map", "0", "-map", "1", "-c", "copy", "-disposition:v", "attached_pic", "-id3v2_version", "3"],
        "out.mp3",
        {
          "a.mp3": tone(440, 2, "mp3"),
          "cover.png": withFfmpeg(["-f", "lavfi", "-i", "color=c=blue:s=64x64", "-frames:v", "1"], "out.png"),
        },
      ),
  },
  { name: "FLAC", make: () => tone(440, 2, "flac") },
  { name: "Ogg Vorbis", make: () => tone(440, 2, "ogg", ["-c:a", "libvorbis"]) },
  { name: "Ogg Opus", make: () => tone(440, 2, "ogg", ["-c:a", "libopus"]) },
  { name: "M4A", make: () => tone(440, 2, "m4a") },
  { name: "5.1 channels", make: () => tone(440, 2, "flac", ["-ac", "6"]) },
];
