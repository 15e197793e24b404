/** Written by npm run drill -- local-models --examples. */
export const MADE = {
  "local-chat": {
    prompt: "Write two sentences about the sea.",
    text: "The sea is a vast and mysterious realm that surrounds the world, teeming with life and full of wonders.",
  },
  "local-cutout": { prompt: "A picture of a mug", file: "local-cutout.webp" },
  "local-music": { prompt: "a happy summer day", file: "local-music.mp3" },
  "local-ocr": {
    prompt: "A page of four lines",
    text: "Invoice 2026-0417\nThe quick brown fox jumps over the lazy dog.\nTotal amount: 1,249.50 EUR\nPayable within thirty days.",
  },
  "local-speech": { prompt: "Good morning. This voice runs on your own machine, and needs no key.", file: "local-speech.mp3" },
  "local-transcribe": { prompt: "What local-speech said", text: "Good morning! This voice runs on your own machine and needs no key." },
  "local-tween": { prompt: "Its first and its last picture", file: "local-tween.mp4" },
  "local-upscale": { prompt: "Left: what it was given", file: "local-upscale.webp" },
  "sandbox-chat": {
    prompt: "A paper boat on a quiet lake at dusk",
    text: "[sandbox] A paper boat on a quiet lake at dusk, in a clean graphic style and the glow after sunset, centred with room around it. “paper” returns as a small accent in the background. “boat” stands in front and keeps its natural texture. “quiet” leads the eye from left to right. “lake” leads the eye f",
  },
  "sandbox-image": { prompt: "A paper boat on a quiet lake at dusk", file: "sandbox-image.webp" },
  "sandbox-image-fast": { prompt: "A paper boat on a quiet lake at dusk", file: "sandbox-image-fast.webp" },
  "sandbox-music": { prompt: "A paper boat on a quiet lake at dusk", file: "sandbox-music.mp3" },
  "sandbox-speech": { prompt: "A paper boat on a quiet lake at dusk", file: "sandbox-speech.mp3" },
  "sandbox-video": { prompt: "A paper boat on a quiet lake at dusk", file: "sandbox-video.mp4" },
  "sandbox-video-pro": { prompt: "A paper boat on a quiet lake at dusk", file: "sandbox-video-pro.mp4" },
};
