/** Search terms for nodes and models: phrases, separated by commas. */

/** Search terms of kinds of nodes, by the ids of their looks. */
export const KIND_WORDS: Readonly<Record<string, string>> = {
  input:
    "request, input, form, field, api, start, trigger, manual trigger, manual, webhook, webhook trigger, form trigger, chat trigger, parameter, variable, begin, user input, primitive, on form submission, entry, number, integer, float, int, boolean, bool, slider, dropdown, choice, combo, checkbox, app input",
  output:
    "response, output, result, end, return, save, preview, save image, preview image, save video, save audio, respond to webhook, respond, preview any, show image, display, finish, download, vhs video combine, show text, preview text, preview video, preview audio, preview image batch, show anything, view, save file, save to disk, export, write file, save animated webp, app output",
  text: "template, prompt, string, join text, concat text, clip text encode, cliptextencode, positive prompt, negative prompt, negative, set, edit fields, string multiline, primitive string, string concatenate, variables, text multiline, constant, concatenate strings",
  assistant:
    "llm, language model, chat, gpt, chatgpt, claude, gemini, write, agent, ai agent, ai, translate, summarize, summarise, llm chain, basic llm chain, openai, describe image, prompt enhancer, question, classify, structured output, information extractor, text classifier, rewrite, vision, caption an image, sentiment, sentiment analysis, anthropic, llama, mistral, deepseek, qwen, grok, captioning, image captioning, florence, florence2, joycaption, tagger, tag, interrogate, clip interrogator, image to prompt, script, screenplay, write a script, story, judge, score, rate, evaluate, copywriting, brainstorm, gpt 4, gpt 4o, gpt 5, moderation, nsfw check, aesthetic score, ask ai, answer",
  image:
    "generate image, text to image, picture, photo, draw, edit image, image edit, ksampler, ksampler advanced, sampler, diffusion, stable diffusion, img2img, image to image, txt2img, t2i, inpaint, outpaint, midjourney, sdxl, dall-e, dalle, generate picture, create image, flux, controlnet, load checkpoint, checkpoint, empty latent image, vae decode, lora, lora loader, style transfer, image generation, ipadapter, generative fill, remove object, object removal, erase object, replace background, change background, product photo, try on, virtual try on, relight, restyle, character, consistent character, nano banana, kontext, flux kontext, imagen, ideogram, recraft, seedream, gpt image, qwen image, qwen image edit, hidream, krea, unet loader, checkpoint loader, sampler custom",
  video:
    "generate video, text to video, image to video, t2v, i2v, movie, film, animate, clip, svd, animatediff, wan, ltx, hunyuan, sora, veo, kling, runway, make video, create video clip, video generation, animate image, video to video, v2v, minimax, hailuo, luma, pika, seedance, dream machine, camera motion, motion, b-roll, broll",
  audio:
    "generate audio, sound, sound effect, sfx, generate music, elevenlabs, suno, udio, stable audio, mmaudio, lyria, text to audio, foley, audio generation, generate speech, noise, tts model, text to speech model, music model",
  model3d:
    "generate 3d, 3d, 3d model, image to 3d, picture to 3d, text to 3d, mesh, glb, gltf, object, asset, hunyuan3d, trellis, tripo, meshy, rodin, triposr, stable fast 3d",
  file: "upload, load, load image, load video, load audio, load media, import file, asset, image upload, read file, read files, open, my photo, upload photo, vhs load video, attachment, binary file, import image, import, picture file, logo file, reference image",
  list: "items, array, batch, fan out, fanout, for each, foreach, each, iterate, loop over items, split in batches, split out, many, image batch list, multiple prompts, variations, xy plot, iterator, for each item, image list, list of images, lines",
  request:
    "http, request, api call, fetch, rest, call url, url, curl, webhook call, slack, discord, telegram, notion, airtable, google sheets, send email, email, post, get, download url, graphql, hook, whatsapp, sms, gmail, twitter, youtube, instagram, scrape, scraper, web scraper, crawl, web search, search the web, rss, xml, html, database, postgres, mysql, sql, mongodb, redis, ftp, s3, google drive, dropbox, supabase, vector store, stripe, integration, connector, load image from url, image from url, load url",
  json: "json, jmespath, query, pick, extract, code, transform, map, filter items, parse, function, javascript, python, expression, math, aggregate, sort, item lists, set fields, calculate, limit, remove duplicates, rename keys, count, length, sum, average, minimum, maximum, first item, index, get item, select item, keys, merge objects, execute code, run code, split text, split string, zip, reduce, object",
  switch:
    "if, else, condition, branch, router, route, case, filter, conditional, if else, gate, boolean switch, comfy switch, compare values, merge branches, any switch, case, if node, rule, otherwise",
  approval:
    "approve, reject, review, human in the loop, human, person, wait, decide, decision, check, sign off, confirm, pause, wait for approval, manual approval, ask a person, send and wait, vote, choose best, pick best",
  operation: "operation, ffmpeg, process file",
  part: "subflow, subworkflow, sub-workflow, execute workflow, execute sub-workflow, nested, inner workflow, call workflow, reuse, component, subgraph, module",
  loop: "loop, repeat, until, while, do while, retry, again, turns, rounds, iterations, feedback, refine, improve, counter, while loop, for loop, loop until, loop open, loop close, repeat until",
  note: "comment, sticky, sticky note, remark, annotation, markdown note, markdown, memo, label",
  frame: "frame, group, group nodes, section, box, container, organize, region, groups",
};

/** Search terms of operations on files, by their names. */
export const OPERATION_WORDS: Readonly<Record<string, string>> = {
  "image-resize": "scale image, image scale, resize image, scale, shrink, image size, dimensions, thumbnail, image resize, megapixels",
  "image-crop": "crop image, image crop, cut image, aspect ratio, square, cut out part, trim image, crop to aspect",
  "image-composite":
    "overlay, composite, compose, layer, layers, logo, watermark, blend, image composite masked, merge images, paste image, background image, combine images",
  "image-grid": "grid, collage, contact sheet, image stitch, stitch, side by side, montage, stack, image batch, image concat, mosaic",
  "image-convert": "convert image, png, jpg, jpeg, webp, image format, compress image, file format",
  "image-text": "text on image, title, write text, caption image, meme, draw text, add text, headline, text overlay",
  "image-extend":
    "outpaint, outpainting, extend image, pad image, image pad for outpainting, uncrop, canvas size, border, enlarge canvas, expand image, expand, generative expand",
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
    "frame of video, video frame, extract frame, still, screenshot, first frame, last frame, get frame, still from video, poster frame, video to image, video to images, split frames, get image from video, cover, video thumbnail",
  "video-mux":
    "add audio, add music to video, mux, soundtrack, voiceover, dub, audio to video, add sound, combine audio video, video combine, create video",
  "video-slideshow": "slideshow, photo film, ken burns, pictures to video, photos to video, images to video, image sequence",
  "video-captions":
    "subtitles, subtitle, captions, caption, srt, burn in, karaoke, subtitle video, lyrics, burn subtitles, add subtitles, closed captions, text on video",
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
  [
    /^local-restore$/,
    "restore, denoise, repair photo, old photo, deblur, clean image, real esrgan, unblur, jpeg artifacts, face restore, gfpgan, codeformer, sharpen, sharpen image",
  ],
  [
    /^local-cutout$/,
    "remove background, background remover, background removal, rmbg, rembg, birefnet, background, cutout, cut out, transparent background, transparency, segment, select subject, mask, isolate subject, u2net, segment anything, sam, sam2",
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
  [/^latentsync$/, "lip sync, lipsync, talking head, dubbing, dub"],
  [/act-two/, "avatar, talking head, motion capture, performance, face animation"],
];

export const modelWords = (internalName: string): string =>
  MODEL_WORDS.flatMap(([name, words]) => (name.test(internalName) ? [words] : [])).join(", ");
