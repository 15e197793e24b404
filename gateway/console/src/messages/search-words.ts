/** Search terms for nodes and models: phrases, separated by commas. */

/** Search terms of operations on files, by their names. */
export const OPERATION_WORDS: Readonly<Record<string, string>> = {
  "image-resize": "scale image, image scale, resize image, scale, shrink, image size, dimensions, thumbnail, image resize, megapixels",
  "image-crop": "crop image, image crop, cut image, aspect ratio, square, cut out part, trim image",
  "image-composite":
    "overlay, composite, compose, layer, layers, logo, watermark, blend, image composite masked, merge images, paste image, background image, combine images",
  "image-grid": "grid, collage, contact sheet, image stitch, stitch, side by side, montage, image batch, image concat, mosaic",
  "image-convert": "convert image, png, jpg, jpeg, webp, image format, compress image, file format",
  "image-text": "text on image, title, write text, caption image, meme, draw text, add text, headline, text overlay",
  "image-extend": "outpaint, outpainting, extend image, pad image, image pad for outpainting, uncrop, canvas size, border, enlarge canvas",
  "image-mask": "apply mask, mask image, set alpha, join image with alpha, alpha, transparency, cut out with mask, clip",
  "image-from-mask": "mask to image, convert mask, export mask, mask form, black and white",
  "mask-draw": "mask, inpaint mask, draw mask, paint mask, mask editor, brush, eraser, rectangle, select area, solid mask",
  "mask-from-image":
    "image to mask, select subject, mask from alpha, threshold mask, brightness mask, image color to mask, load image mask",
  "mask-combine": "combine masks, mask composite, union, intersect, subtract mask, add masks, merge masks",
  "mask-grow": "grow mask, shrink mask, expand mask, dilate, erode, mask padding",
  "mask-blur": "feather mask, blur mask, soften mask, soft edge",
  "mask-invert": "invert mask, inverse selection, reverse mask",
  "video-concat": "join video, concat video, concatenate, merge videos, combine videos, append video, stitch videos",
  "video-trim": "trim video, cut video, video slice, shorten, clip video, split video",
  "video-frame":
    "frame of video, video frame, extract frame, still, screenshot, first frame, last frame, get frame, still from video, poster frame",
  "video-mux":
    "add audio, add music to video, mux, soundtrack, voiceover, dub, audio to video, add sound, combine audio video, video combine, create video",
  "video-slideshow": "slideshow, photo film, ken burns, pictures to video, photos to video",
  "video-captions": "subtitles, subtitle, captions, caption, srt, burn in, karaoke, subtitle video, lyrics",
  "video-speed": "speed, slow motion, slowmo, fast forward, timelapse, time lapse, reverse, playback rate",
  "video-resize": "resize video, scale video, vertical video, portrait video, crop video, reframe, letterbox",
  "video-gif": "gif, animated gif, save animated, animation, animated webp",
  "audio-concat": "join audio, concat audio, append audio, merge sounds, combine sounds, audio concat",
  "audio-mix": "mix audio, background music, layer audio, ducking, audio merge, overlay audio",
  "audio-trim": "trim audio, cut audio, fade, fade in, fade out, shorten audio, trim audio duration",
  "audio-loudness": "loudness, volume, normalize, normalise, gain, level audio, audio adjust volume, lufs",
  "audio-convert": "convert audio, mp3, wav, audio format, sample rate, mono",
};

/** Search terms of models, by their internal names. */
const MODEL_WORDS: readonly (readonly [RegExp, string])[] = [
  [
    /^local-upscale$/,
    "upscale, upscaler, upscale image, image upscale with model, super resolution, esrgan, 4x, enlarge, make larger, enhance, hires fix, upscale model loader, higher resolution",
  ],
  [/^local-restore$/, "restore, denoise, repair photo, old photo, deblur, clean image, real esrgan, unblur, jpeg artifacts"],
  [
    /^local-cutout$/,
    "remove background, background remover, background removal, rmbg, rembg, birefnet, background, cutout, cut out, transparent background, transparency, segment, select subject, mask, isolate subject, u2net",
  ],
  [/^local-ocr$/, "ocr, read text, text from image, image to text, extract text, scan, recognize text"],
  [/^local-transcribe$/, "transcribe, transcription, speech to text, stt, whisper, audio to text, dictation"],
  [/^local-languages$/, "multilingual transcription, whisper base"],
  [/^local-speech$/, "tts, text to speech, speak, voice, read aloud, narration, narrator, speech, say"],
  [/^local-voices$/, "voices, kokoro, voice actor"],
  [/^local-music$/, "music, compose, song, melody, text to music, score, jingle"],
  [/^local-pictures$/, "offline image generation, stable diffusion, lcm, dreamshaper, onnx, private images, local diffusion, ksampler"],
  [/^local-tween$/, "interpolate, interpolation, frame interpolation, rife, tween, morph, inbetween, first last frame, transition"],
  [/^local-embeddings$/, "embedding, embeddings, vector, similarity, semantic search, embed"],
  [/^local-chat$/, "offline llm, ollama, smollm, private chat, local llm"],
  [/upscale/, "upscale, upscaler"],
];

export const modelWords = (internalName: string): string =>
  MODEL_WORDS.flatMap(([name, words]) => (name.test(internalName) ? [words] : [])).join(", ");

export const FRAME_WORDS = "frame, group, group nodes, section, box, container, organize, region, groups";
