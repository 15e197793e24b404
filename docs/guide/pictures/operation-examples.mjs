/** One example for each operation of media nodes, which draw-operations.mjs draws. */

/** Files by the names that examples have for them. */
export const INPUTS = {
  samples: {
    harbour: "harbour.jpg",
    lighthouse: "lighthouse.jpg",
    beach: "beach.jpg",
    regatta: "regatta.jpg",
    pier: "pier.jpg",
    night: "night.jpg",
    mug: "mug.jpg",
    small: "small.jpg",
    clip: "clip.mp4",
    speech: "speech.mp3",
  },
  models: {
    music: { model: "sandbox-music", inputs: { prompt: "a calm day by the sea", seconds: 10 } },
  },
  operations: {
    talk: {
      operation: "video-slideshow",
      settings: { timing: "audio", width: 640, height: 360 },
      files: { images: ["pier", "night"], audio: "speech" },
    },
    lightMask: {
      operation: "mask-draw",
      settings: {
        shapes: [
          {
            tool: "brush",
            points: [
              [0.35, 0.45],
              [0.62, 0.4],
            ],
            size: 0.3,
          },
        ],
      },
      files: { image: "lighthouse" },
    },
    wideMask: {
      operation: "mask-draw",
      settings: { shapes: [{ tool: "rectangle", x: 0.1, y: 0.5, width: 0.8, height: 0.35 }] },
      files: { image: "lighthouse" },
    },
    logo: { operation: "image-resize", settings: { width: 240, height: 240 }, files: { image: "mug" } },
  },
};

export const EXAMPLES = {
  "image-resize": { settings: { width: 480, sharpen: 0.8 }, files: { image: "small" } },
  "image-crop": { settings: { aspect: "1:1", position: "attention" }, files: { image: "lighthouse" } },
  "image-composite": { settings: { position: "bottom-right", margin: 40 }, files: { image: "beach", overlay: "logo" } },
  "image-grid": {
    settings: { columns: 3, cellWidth: 320, cellHeight: 200 },
    files: { images: ["harbour", "lighthouse", "beach", "regatta", "pier", "night"] },
  },
  "image-convert": { settings: { format: "webp", quality: 20 }, files: { image: "regatta" } },
  "image-text": { settings: { text: "A day by the sea", size: 0.1, bold: true }, files: { image: "pier" } },
  "image-extend": { settings: { left: 200, right: 200, background: "#c8c4bc" }, files: { image: "harbour" } },
  "image-mask": { settings: {}, files: { image: "lighthouse", mask: "lightMask" } },
  "image-from-mask": { settings: { form: "black" }, files: { mask: "lightMask" } },
  "mask-draw": {
    settings: {
      shapes: [
        {
          tool: "brush",
          points: [
            [0.3, 0.5],
            [0.5, 0.35],
            [0.7, 0.5],
          ],
          size: 0.2,
        },
        { tool: "rectangle", x: 0.05, y: 0.7, width: 0.3, height: 0.2 },
      ],
      feather: 12,
    },
    files: { image: "lighthouse" },
  },
  "mask-from-image": { settings: { by: "brightness", threshold: 0.6 }, files: { image: "lighthouse" } },
  "mask-combine": { settings: { method: "subtract" }, files: { mask: "lightMask", other: "wideMask" } },
  "mask-grow": { settings: { pixels: 40 }, files: { mask: "lightMask" } },
  "mask-blur": { settings: { feather: 60 }, files: { mask: "lightMask" } },
  "mask-invert": { settings: {}, files: { mask: "lightMask" } },
  "video-concat": { settings: { transition: "fade" }, files: { videos: ["clip", "talk"] } },
  "video-trim": { settings: { start: 1, seconds: 2 }, files: { video: "talk" } },
  "video-frame": { settings: { last: true }, files: { video: "talk" } },
  "video-mux": { settings: { original: "duck", loop: true, fadeSeconds: 1 }, files: { video: "talk", audio: "music" } },
  "video-slideshow": { settings: { seconds: 1.5, transition: "fade" }, files: { images: ["harbour", "beach", "night"] } },
  "video-captions": {
    settings: { text: "Two friends walk along the pier. At night the light guides them home.", size: 0.11 },
    files: { video: "talk" },
  },
  "video-speed": { settings: { speed: 3 }, files: { video: "talk" } },
  "video-resize": { settings: { width: 360, height: 360, fit: "cover" }, files: { video: "talk" } },
  "video-gif": { settings: { seconds: 2, width: 240, fps: 8 }, files: { video: "clip" } },
  "audio-concat": { settings: { gapSeconds: 1 }, files: { audios: ["speech", "music"] } },
  "audio-mix": { settings: { duck: true }, files: { audios: ["speech", "music"] } },
  "audio-trim": { settings: { seconds: 3, fadeSeconds: 1 }, files: { audio: "speech" } },
  "audio-loudness": { settings: { loudness: -12 }, files: { audio: "speech" } },
  "audio-convert": { settings: { format: "ogg", channels: 1, sampleRate: 16_000 }, files: { audio: "speech" } },
};
