import { choice, explained, file, fileList, flag, MOST_SECONDS, number, operationsOf, seconds, whole } from "./operation";

const audio = operationsOf("audio", "ffmpeg");

export const AUDIO_FORMATS = ["mp3", "m4a", "wav", "flac", "ogg"] as const;
const format = { format: choice(AUDIO_FORMATS, "Format") };
const fadeSeconds = number(0, 30, "Fade-out (seconds)", 0);

export const AUDIO_OPERATIONS = [
  audio({
    name: "audio-concat",
    title: "Join sounds",
    summary: "Plays sounds one after the other.",
    required: ["audios"],
    properties: {
      audios: fileList("audio"),
      gapSeconds: number(0, 60, "Gap (seconds)", 0),
      crossfadeSeconds: explained("Each sound fades into the next. Not together with a gap.", number(0, 10, "Crossfade (seconds)", 0)),
      ...format,
    },
  }),
  audio({
    name: "audio-mix",
    title: "Mix sounds",
    summary: "Plays sounds at once. With `duck`, the others are lowered while the first one plays.",
    required: ["audios"],
    properties: {
      audios: fileList("audio", 2, 16),
      length: explained("The sound that sets the length of the result.", choice(["longest", "first", "shortest"], "Length")),
      volumes: {
        type: "array",
        items: { type: "number", minimum: 0, maximum: 4 },
        maxItems: 16,
        title: "Volumes",
        description: "One factor per sound. 1 keeps the volume.",
      },
      duck: explained("Lowers the other sounds while the first one plays.", flag("Duck")),
      loop: explained("Repeats sounds that are shorter than the result.", flag("Loop")),
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
      start: seconds("Start (seconds)", 0),
      end: seconds("End (seconds)"),
      seconds: explained("Use this or the end.", number(0.02, MOST_SECONDS, "Length (seconds)")),
      fadeSeconds,
      ...format,
    },
  }),
  audio({
    name: "audio-loudness",
    title: "Normalize loudness",
    summary: "Sets the loudness of a sound by EBU R128.",
    required: ["audio"],
    properties: {
      audio: file("audio", "Sound"),
      loudness: number(-40, -9, "Loudness (LUFS)", -16),
      peak: number(-9, 0, "True peak (dBTP)", -1.5),
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
        title: "Sample rate (Hz)",
        description: "Leave empty to keep it.",
      },
      channels: { type: "integer", enum: [1, 2], title: "Channels", description: "Leave empty to keep them." },
      bitrate: explained("For MP3, M4A and Ogg.", whole(32, 320, "Bitrate (kbit/s)", 192)),
    },
  }),
] as const;
