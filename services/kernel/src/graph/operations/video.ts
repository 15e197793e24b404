import {
  choice,
  colour,
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

const side = (title: string, fallback?: number) => whole(16, MOST_VIDEO_PIXELS_WIDE, `${title}, in pixels`, fallback);
const transition = {
  transition: choice(["cut", "fade"], "How one passes into the next"),
  fadeSeconds: number(0.1, 5, "Length of a fade, in seconds", 0.5),
};
const range = {
  start: seconds("Where it begins, in seconds", 0),
  end: seconds("Where it ends, in seconds"),
  seconds: number(0.04, MOST_SECONDS, "How long it is, instead of `end`"),
};

export const VIDEO_OPERATIONS = [
  video({
    name: "video-concat",
    title: "Join videos",
    summary: "Joins videos in order. All take the size and pace of the first; their sound is kept.",
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
    title: "Take a picture of a video",
    summary: "Gives the picture of a video at a moment, or its last one.",
    required: ["video"],
    properties: {
      video: file("video", "Video"),
      at: seconds("The moment, in seconds", 0),
      last: flag("The last picture instead"),
    },
  }),
  video({
    name: "video-mux",
    title: "Add sound to a video",
    summary: "Puts a sound under a video: instead of its own, beside it, or lowered while its own speaks.",
    required: ["video", "audio"],
    properties: {
      video: file("video", "Video"),
      audio: file("audio", "Sound"),
      length: choice(["video", "audio", "shortest", "longest"], "What decides how long the result is"),
      loop: flag("What is shorter begins again; otherwise silence follows, or the last picture stays"),
      original: choice(["drop", "mix", "duck"], "The video's own sound: left out, mixed, or the added sound is lowered under it"),
      volume: number(0, 4, "Of the added sound; 1 is as it is", 1),
      fadeSeconds: number(0, 30, "The added sound fades out at the end, in seconds", 0),
    },
  }),
  video({
    name: "video-slideshow",
    title: "Make a slideshow",
    summary: "Shows images one after the other, with movement and sound.",
    required: ["images"],
    properties: {
      images: fileList("image"),
      audio: file("audio", "Sound under all of them"),
      audios: { ...fileList("audio", 0), title: "A sound for each image, instead of one" },
      timing: choice(["seconds", "audio"], "Each lasts `seconds`, or as long as the sound"),
      seconds: number(0.2, 60, "How long each is shown, in seconds", 3),
      ...transition,
      motion: choice(["zoom", "none"], "Slow movement over each image"),
      width: side("Width", 1_280),
      height: side("Height", 720),
      fps: whole(1, 60, "Pictures a second", 25),
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
      words: { type: "array", maxItems: 20_000, title: "Words with times, as transcription models give them: [{text, start, end}]" },
      text: { type: "string", maxLength: 50_000, title: "Or a text, spread over the video" },
      mode: choice(["burn", "track"], "Written on the pictures, or a track of their own"),
      position: choice(["bottom", "top", "centre"], "Where they stand"),
      size: number(0.02, 0.2, "Height of a line, as a share of the video's height", 0.06),
      colour: colour("Colour of the text", "#ffffff"),
      maxCharacters: whole(8, 80, "Characters of a line", 36),
    },
  }),
  video({
    name: "video-speed",
    title: "Change a video's speed",
    summary: "Plays a video faster or slower; its sound keeps its pitch.",
    required: ["video"],
    properties: { video: file("video", "Video"), speed: number(0.1, 10, "Times as fast", 2) },
  }),
  video({
    name: "video-resize",
    title: "Resize a video",
    summary: "Gives a video another size or another number of pictures a second.",
    required: ["video"],
    oneOf: [["width", "height", "fps"]],
    properties: {
      video: file("video", "Video"),
      width: side("Width"),
      height: side("Height"),
      fit: choice(["inside", "cover", "contain"], "How it fills both sides: whole, cut, or with bars"),
      fps: whole(1, 60, "Pictures a second"),
    },
  }),
  picture({
    name: "video-gif",
    title: "Make a GIF",
    summary: "Makes an animated GIF of a video or a part of it.",
    required: ["video"],
    properties: {
      video: file("video", "Video"),
      start: seconds("Where it begins, in seconds", 0),
      seconds: number(0.1, 60, "How long it is, in seconds", 5),
      width: whole(16, 1_280, "Width, in pixels", 480),
      fps: whole(1, 30, "Pictures a second", 12),
    },
  }),
] as const;
