import { edge, node, textField } from "../graph.mjs";

/** Templates that create a clip. */

const TITLE_CARDS = {
  slug: "title-cards",
  name: "Title cards",
  description: "A list of titles becomes a row of cards that fade into each other: the openings and chapters of a film.",
  tags: ["video", "text"],
  nodes: [
    node("input", "request-input", 0, 0, {
      fields: [
        { name: "titles", type: "json", label: "Titles", default: ["A day by the sea", "Morning", "Noon", "Night"] },
        { name: "background", type: "image_upload", label: "Behind them", default: "sample:pier.jpg" },
        { name: "seconds", type: "number", label: "Seconds of each", default: 2.5, min: 1, max: 20 },
      ],
      values: {},
    }),
    node("size", "media", 1, 1, { operation: "image-resize", label: "As a film is wide", width: 1_280, height: 720, fit: "cover" }),
    node("card", "media", 2, 0, {
      ...{ operation: "image-text", label: "Card", position: "centre", size: 0.12, bold: true, background: "#00000066" },
    }),
    node("show", "media", 3, 0, { operation: "video-slideshow", label: "Cards in order", transition: "fade", motion: "none" }),
    node("output", "response-output", 4, 0, {}),
  ],
  edges: [
    "input.titles -> card.text",
    "input.background -> size.image",
    "size.image -> card.image",
    "card.image -> show.images",
    "input.seconds -> show.seconds",
    "show.video -> output.videos",
    "card.image -> output.images",
  ].map(edge),
};

const TWEEN = {
  slug: "tween-two-pictures",
  name: "Tween two pictures",
  description: "This machine's own model draws every frame between two pictures, there and back: a clip that loops.",
  tags: ["video", "local"],
  nodes: [
    node("input", "request-input", 0, 0, {
      fields: [
        { name: "first", type: "image_upload", label: "First picture", default: "sample:beach.jpg" },
        { name: "last", type: "image_upload", label: "Last picture", default: "sample:pier.jpg" },
        { name: "seconds", type: "number", label: "Seconds", default: 1.5, min: 0.5, max: 5 },
      ],
      values: {},
    }),
    node("from", "media", 1, 0, { operation: "image-resize", label: "First, small", width: 512, height: 288, fit: "cover" }),
    node("to", "media", 1, 1, { operation: "image-resize", label: "Last, small", width: 512, height: 288, fit: "cover" }),
    node("there", "generate-video", 2, 0, { model: "local-tween", label: "There" }),
    node("back", "generate-video", 2, 1, { model: "local-tween", label: "And back" }),
    node("loop", "media", 3, 0, { operation: "video-concat", label: "Joined" }),
    node("output", "response-output", 4, 0, {}),
  ],
  edges: [
    "input.first -> from.image",
    "input.last -> to.image",
    "from.image -> there.image",
    "to.image -> there.endImage",
    "to.image -> back.image",
    "from.image -> back.endImage",
    "input.seconds -> there.seconds",
    "input.seconds -> back.seconds",
    "there.video -> loop.videos",
    "back.video -> loop.videos",
    "loop.video -> output.videos",
  ].map(edge),
};

const CLIP_TO_GIF = {
  slug: "gif-from-a-clip",
  name: "GIF from a clip",
  description: "The best seconds of a clip as a GIF that plays anywhere.",
  tags: ["video", "gif"],
  nodes: [
    node("input", "request-input", 0, 0, {
      fields: [
        { name: "clip", type: "video_upload", label: "Clip", default: "sample:clip.mp4" },
        { name: "start", type: "number", label: "From second", default: 0, min: 0, max: 1_800 },
        { name: "seconds", type: "number", label: "For seconds", default: 2, min: 0.5, max: 15 },
        { name: "speed", type: "number", label: "Speed", default: 1, min: 0.25, max: 8 },
      ],
      values: {},
    }),
    node("part", "media", 1, 0, { operation: "video-trim", label: "Part" }),
    node("paced", "media", 2, 0, { operation: "video-speed", label: "Pace" }),
    node("gif", "media", 3, 0, { operation: "video-gif", label: "GIF", seconds: 60, width: 400, fps: 12 }),
    node("output", "response-output", 4, 0, {}),
  ],
  edges: [
    "input.clip -> part.video",
    "input.start -> part.start",
    "input.seconds -> part.seconds",
    "part.video -> paced.video",
    "input.speed -> paced.speed",
    "paced.video -> gif.video",
    "gif.image -> output.images",
  ].map(edge),
};

export const CLIPS = [TITLE_CARDS, TWEEN, CLIP_TO_GIF];
