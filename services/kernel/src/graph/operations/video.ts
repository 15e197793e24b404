import {
  choice,
  colour,
  explained,
  file,
  fileList,
  flag,
  MOST_SECONDS,
  MOST_VIDEO_PIXELS_WIDE,
  number,
  operationsOf,
  seconds,
  whole,
} from "./operation";

const video = operationsOf("video", "ffmpeg");
const picture = operationsOf("image", "ffmpeg");

const side = (title: string, fallback?: number) => whole(16, MOST_VIDEO_PIXELS_WIDE, `${title} (pixels)`, fallback);
const transition = {
  transition: choice(["cut", "fade"], "Transition"),
  fadeSeconds: number(0.1, 5, "Fade (seconds)", 0.5),
};
const range = {
  start: seconds("Start (seconds)", 0),
  end: seconds("End (seconds)"),
  seconds: explained("Use this or the end.", number(0.04, MOST_SECONDS, "Length (seconds)")),
};

export const VIDEO_OPERATIONS = [
  video({
    name: "video-concat",
    title: "Join videos",
    summary: "Joins videos in order. All get the size and frame rate of the first. Their sound is kept.",
    required: ["videos"],
    properties: { videos: fileList("video"), ...transition },
  }),
  video({
    name: "video-trim",
    title: "Trim a video",
    summary: "Cuts a part out of a video.",
    required: ["video"],
    oneOf: [["start", "end", "seconds"]],
    properties: { video: file("video", "Video"), ...range },
  }),
  picture({
    name: "video-frame",
    title: "Extract a frame",
    summary: "Returns the frame of a video at a given time, or its last frame.",
    required: ["video"],
    properties: {
      video: file("video", "Video"),
      at: seconds("Time (seconds)", 0),
      last: explained("Takes the last frame and ignores the time.", flag("Last frame")),
    },
  }),
  video({
    name: "video-mux",
    title: "Add sound to a video",
    summary: "Adds a sound to a video: instead of its own sound, mixed with it, or lowered under it.",
    required: ["video", "audio"],
    properties: {
      video: file("video", "Video"),
      audio: file("audio", "Sound"),
      length: explained("The input that sets the length of the result.", choice(["video", "audio", "shortest", "longest"], "Length")),
      loop: explained("Repeats the shorter input. Otherwise silence follows, or the last frame stays.", flag("Loop")),
      original: explained(
        "Remove the video's own sound, mix both, or lower the added sound while the video's own plays.",
        choice(["drop", "mix", "duck"], "Original sound"),
      ),
      volume: explained("A factor for the added sound. 1 keeps its volume.", number(0, 4, "Volume", 1)),
      fadeSeconds: explained("Fades the added sound out at the end.", number(0, 30, "Fade-out (seconds)", 0)),
    },
  }),
  video({
    name: "video-slideshow",
    title: "Make a slideshow",
    summary: "Shows images one after the other, with movement and sound.",
    required: ["images"],
    properties: {
      images: fileList("image"),
      audio: file("audio", "Sound"),
      audios: { ...fileList("audio", 0), title: "Sound per image", description: "One for each image, instead of one sound for all." },
      timing: explained("Show each image for a fixed time, or as long as its sound.", choice(["seconds", "audio"], "Timing")),
      seconds: number(0.2, 60, "Time per image (seconds)", 3),
      ...transition,
      motion: choice(["zoom", "none"], "Motion"),
      width: side("Width", 1_280),
      height: side("Height", 720),
      fps: whole(1, 60, "Frames per second", 25),
    },
  }),
  video({
    name: "video-captions",
    title: "Caption a video",
    summary: "Writes captions on a video, or adds them as a track that players can switch.",
    required: ["video"],
    oneOf: [["words", "text"]],
    properties: {
      video: file("video", "Video"),
      words: {
        type: "array",
        maxItems: 20_000,
        title: "Words",
        description: "Words with times, as transcription models return them: [{text, start, end}].",
      },
      text: { type: "string", maxLength: 50_000, title: "Text", description: "Use this or words. The text is spread over the video." },
      grouping: explained(
        "Join words into captions by pauses and sentences, or show each entry of words as a caption at exactly its times.",
        choice(["phrases", "none"], "Grouping"),
      ),
      mode: explained("Draw captions on the video, or add them as a track.", choice(["burn", "track"], "Mode")),
      position: choice(["bottom", "top", "centre"], "Position"),
      size: explained("Height of a line, as a share of the video's height.", number(0.02, 0.2, "Text size", 0.06)),
      colour: colour("Text color", "#ffffff"),
      maxCharacters: whole(8, 80, "Characters per line", 36),
    },
  }),
  video({
    name: "video-speed",
    title: "Change a video's speed",
    summary: "Plays a video faster or slower; its sound keeps its pitch.",
    required: ["video"],
    properties: { video: file("video", "Video"), speed: number(0.1, 10, "Speed", 2) },
  }),
  video({
    name: "video-resize",
    title: "Resize a video",
    summary: "Changes the size or the frame rate of a video.",
    required: ["video"],
    oneOf: [["width", "height", "fps"]],
    properties: {
      video: file("video", "Video"),
      width: side("Width"),
      height: side("Height"),
      fit: explained(
        "With both sides given: the whole video inside them, cut to fill them, or with bars.",
        choice(["inside", "cover", "contain"], "Fit"),
      ),
      fps: whole(1, 60, "Frames per second"),
    },
  }),
  picture({
    name: "video-gif",
    title: "Make a GIF",
    summary: "Makes an animated GIF of a video or a part of it.",
    required: ["video"],
    properties: {
      video: file("video", "Video"),
      start: seconds("Start (seconds)", 0),
      seconds: number(0.1, 60, "Length (seconds)", 5),
      width: whole(16, 1_280, "Width (pixels)", 480),
      fps: whole(1, 30, "Frames per second", 12),
    },
  }),
] as const;
