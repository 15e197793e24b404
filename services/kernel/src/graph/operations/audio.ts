import { choice, file, fileList, flag, MOST_SECONDS, number, operationsOf, seconds } from "./operation";

const audio = operationsOf("audio", "ffmpeg");

export const AUDIO_FORMATS = ["mp3", "m4a", "wav", "flac", "ogg"] as const;
const format = { format: choice(AUDIO_FORMATS, "Format of the result") };
const fadeSeconds = number(0, 30, "Fades out at the end, in seconds", 0);

export const AUDIO_OPERATIONS = [
  audio({
    name: "audio-concat",
    title: "Join sounds",
    summary: "Plays sounds one after the other.",
    required: ["audios"],
    properties: {
      audios: fileList("audio"),
      gapSeconds: number(0, 60, "Silence between two, in seconds", 0),
      crossfadeSeconds: number(0, 10, "Each fades into the next, in seconds; without a gap", 0),
      ...format,
    },
  }),
  audio({
    name: "audio-mix",
    title: "Mix sounds",
    summary: "Plays sounds at once. With `duck` the first is speech, and the others are lowered under it.",
    required: ["audios"],
    properties: {
      audios: fileList("audio", 2, 16),
      length: choice(["longest", "first", "shortest"], "How long the result is"),
      volumes: { type: "array", items: { type: "number", minimum: 0, maximum: 4 }, maxItems: 16, title: "Of each; 1 is as it is" },
      duck: flag("Others are lowered while the first is heard"),
      loop: flag("What is shorter than the result begins again"),
      fadeSeconds,
      ...format,
    },
  }),
  audio({
    name: "audio-trim",
    title: "Trim a sound",
    summary: "Cuts a part out of a sound.",
    required: ["audio"],
    oneOf: [["start", "end", "seconds", "fadeSeconds"]],
    properties: {
      audio: file("audio", "Sound"),
      start: seconds("Where it begins, in seconds", 0),
      end: seconds("Where it ends, in seconds"),
      seconds: number(0.02, MOST_SECONDS, "How long it is, instead of `end`"),
      fadeSeconds,
      ...format,
    },
  }),
  audio({
    name: "audio-loudness",
    title: "Level a sound",
    summary: "Brings a sound to a loudness by EBU R128, measured first.",
    required: ["audio"],
    properties: {
      audio: file("audio", "Sound"),
      loudness: number(-40, -9, "Loudness of the whole, in LUFS", -16),
      peak: number(-9, 0, "Highest true peak, in dBTP", -1.5),
      ...format,
    },
  }),
  audio({
    name: "audio-convert",
    title: "Convert a sound",
    summary: "Writes a sound in another format.",
    required: ["audio"],
    properties: {
      audio: file("audio", "Sound"),
      ...format,
      sampleRate: {
        type: "integer",
        enum: [8_000, 16_000, 22_050, 24_000, 44_100, 48_000],
        title: "Samples a second; as they are without it",
      },
      channels: { type: "integer", enum: [1, 2], title: "Channels; as they are without it" },
      bitrate: { type: "integer", minimum: 32, maximum: 320, default: 192, title: "Kilobits a second, where the format loses any" },
    },
  }),
] as const;
