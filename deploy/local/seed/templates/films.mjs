import { edge, node, textField } from "../graph.mjs";

/** Templates whose result is a film. */

const SCENES = {
  type: "array",
  minItems: 3,
  maxItems: 4,
  items: {
    type: "object",
    required: ["still", "motion", "narration"],
    additionalProperties: false,
    properties: {
      still: { type: "string", minLength: 20, maxLength: 300, description: "What a picture of the scene shows" },
      motion: { type: "string", minLength: 10, maxLength: 150, description: "What moves in it" },
      narration: { type: "string", minLength: 15, maxLength: 120, description: "One short sentence that is spoken over it" },
    },
  },
};

/** Under the voice, and gone at the end. */
const MUSIC = { operation: "video-mux", original: "duck", loop: true, volume: 0.5, fadeSeconds: 2.5 };

/** How long music has to be: in whole seconds, as long as models make it. */
const MUSIC_SECONDS = "max([`5`, min([`120`, ceil(duration)])])";

export const FILM_FROM_AN_IDEA = {
  slug: "film-from-an-idea",
  name: "Film from an idea",
  description:
    "One line in, a film out: scenes are written, drawn, set in motion and told by a voice, joined, scored and captioned. Each step takes the best model that this installation has.",
  tags: ["film", "video"],
  nodes: [
    node("input", "request-input", 0, 1, {
      fields: [
        textField("topic", "What the film is about", "a lighthouse keeper's last night"),
        textField("look", "How it looks", "soft evening light, painted in gouache"),
        textField("music", "What the music is like", "calm and hopeful, piano and strings"),
      ],
      values: {},
    }),
    node("writer", "llm-assistant", 1, 1, {
      model: "auto:text",
      label: "Writer",
      system: "You write short films. Each scene has one picture and one short sentence that a narrator says.",
      prompt: "The scenes of a short film about {{topic}}.",
      maxTokens: 1_024,
      // Small models write the same scene again otherwise.
      temperature: 0.9,
      schema: SCENES,
    }),
    node("stills", "json", 2, 0, { label: "Pictures", expression: "[*].still" }),
    node("motions", "json", 2, 1, { label: "Movements", expression: "[*].motion" }),
    node("lines", "json", 2, 2, { label: "Narration", expression: "[*].narration" }),
    node("prompts", "text-box", 3, 0, { text: "{{still}}. {{look}}" }),
    node("image", "generate-image", 4, 0, { model: "auto:image", label: "Picture of each scene", maxItems: 4 }),
    node("wide", "media", 5, 0, { operation: "image-crop", label: "As wide as a film", aspect: "16:9", maxItems: 4 }),
    node("clip", "generate-video", 6, 0, { model: "auto:image-to-video", label: "Clip of each picture", maxItems: 4 }),
    node("voice", "generate-audio", 4, 2, { model: "auto:speech", label: "Voice of each scene", maxItems: 4 }),
    node("frame", "media", 7, 0, {
      ...{ operation: "video-resize", label: "All of one size", width: 1_280, height: 720, fps: 25, fit: "cover", maxItems: 4 },
    }),
    node("told", "media", 8, 0, { operation: "video-mux", label: "Clip and voice", length: "longest", maxItems: 4 }),
    node("captioned", "media", 9, 0, { operation: "video-captions", label: "Captions", maxItems: 4 }),
    node("film", "media", 10, 0, { operation: "video-concat", label: "Scenes joined" }),
    node("length", "json", 10, 1, { label: "Length of the music", expression: MUSIC_SECONDS }),
    node("music", "generate-audio", 11, 1, { model: "auto:music", label: "Music" }),
    node("scored", "media", 12, 0, { ...MUSIC, label: "Music under the voice" }),
    node("output", "response-output", 13, 1, {}),
  ],
  edges: [
    "input.topic -> writer.topic",
    "writer.json -> stills.value",
    "writer.json -> motions.value",
    "writer.json -> lines.value",
    "stills.value -> prompts.still",
    "input.look -> prompts.look",
    "prompts.text -> image.prompt",
    "image.image -> wide.image",
    "wide.image -> clip.image",
    "motions.value -> clip.prompt",
    "lines.value -> voice.prompt",
    "clip.video -> frame.video",
    "frame.video -> told.video",
    "voice.audio -> told.audio",
    "told.video -> captioned.video",
    "lines.value -> captioned.text",
    "captioned.video -> film.videos",
    "film.video -> length.value",
    "length.value -> music.seconds",
    "input.music -> music.prompt",
    "film.video -> scored.video",
    "music.audio -> scored.audio",
    "scored.video -> output.videos",
    "writer.json -> output.scenes",
  ].map(edge),
};

/** The photos of the narrated slideshow, and what is seen on each. */
const PHOTOS = [
  ["harbour", "The harbour wakes up at sunrise."],
  ["lighthouse", "The old lighthouse stands on its cliff."],
  ["beach", "At noon the beach is full of umbrellas."],
  ["regatta", "In the afternoon the sailing boats race."],
  ["pier", "Two friends walk along the pier at sunset."],
  ["night", "At night the lighthouse guides a boat home."],
];
const WRITTEN = "write from them";
const AS_GIVEN = "say them as they are";

const WORDS = {
  type: "object",
  required: ["words"],
  properties: {
    words: {
      type: "array",
      items: {
        type: "object",
        required: ["text", "start", "end"],
        properties: { text: { type: "string" }, start: { type: "number" }, end: { type: "number" } },
      },
    },
  },
};
/** A transcription with the time of each word, which captions are made of. */
export const WORDS_OF = { model: "local-transcribe", schema: WORDS };

export const NARRATED_SLIDESHOW = {
  slug: "narrated-slideshow",
  name: "Narrated slideshow",
  description:
    "Six photos and a line about each become a film: this machine's own models write and speak the narration, photos move in its rhythm, captions are its words, music lies under it. No key, and nothing leaves the machine.",
  tags: ["film", "photos", "local"],
  nodes: [
    node("input", "request-input", 0, 2, {
      fields: [
        textField("topic", "What the photos are about", "a summer day at the sea"),
        ...PHOTOS.flatMap(([name, line], index) => [
          { name: `photo${index + 1}`, type: "image_upload", label: `Photo ${index + 1}`, default: `sample:${name}.jpg` },
          textField(`line${index + 1}`, `What photo ${index + 1} shows`, line ?? ""),
        ]),
        { name: "narration", type: "select", label: "The narrator is to", options: [WRITTEN, AS_GIVEN], default: WRITTEN },
        { name: "mood", type: "select", label: "Music", options: ["calm", "happy", "sad", "epic", "tense"], default: "happy" },
      ],
      values: {},
    }),
    node("lines", "list", 1, 2, { label: "Lines", items: [] }),
    node("choice", "switch", 2, 2, {
      label: "Written, or as they are",
      cases: [{ name: "given", left: "{{narration}}", op: "equals", right: AS_GIVEN }],
    }),
    node("writer", "llm-assistant", 3, 3, {
      model: "local-chat",
      label: "Narrator's text",
      system: "You narrate photos.",
      prompt: "Photos of {{topic}}. Narrate this photo in one short, warm sentence: {{line}}",
      maxTokens: 64,
      temperature: 0,
      maxItems: 6,
    }),
    node("voice", "generate-audio", 4, 2, { model: "local-speech", label: "Voice", maxItems: 6 }),
    node("speech", "media", 5, 2, { operation: "audio-concat", label: "All that is said", format: "wav" }),
    node("words", "llm-assistant", 6, 2, { ...WORDS_OF, label: "Words and their times" }),
    node("show", "media", 5, 0, { operation: "video-slideshow", label: "Photos in the rhythm of the voice", transition: "fade" }),
    node("captioned", "media", 7, 1, { operation: "video-captions", label: "Captions" }),
    node("length", "json", 6, 3, { label: "Length of the music", expression: MUSIC_SECONDS }),
    node("music", "generate-audio", 7, 3, { model: "local-music", label: "Music" }),
    node("scored", "media", 8, 2, { ...MUSIC, label: "Music under the voice" }),
    node("output", "response-output", 9, 2, {}),
  ],
  edges: [
    ...PHOTOS.flatMap((_, index) => [`input.photo${index + 1} -> show.images`, `input.line${index + 1} -> lines.items`]),
    "lines.items -> choice.value",
    "input.narration -> choice.narration",
    "choice.else -> writer.line",
    "input.topic -> writer.topic",
    "writer.text -> voice.prompt",
    "choice.given -> voice.prompt",
    "voice.audio -> speech.audios",
    "voice.audio -> show.audios",
    "speech.audio -> words.audio",
    "speech.audio -> length.value",
    "show.video -> captioned.video",
    "words.json -> captioned.words",
    "length.value -> music.seconds",
    "input.topic -> music.prompt",
    "input.mood -> music.mood",
    "captioned.video -> scored.video",
    "music.audio -> scored.audio",
    "scored.video -> output.videos",
    "writer.text -> output.text",
    "choice.given -> output.text",
  ].map(edge),
};

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
        { name: "speed", type: "number", label: "Times as fast", default: 1, min: 0.25, max: 8 },
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

export const FILMS = [FILM_FROM_AN_IDEA, NARRATED_SLIDESHOW, TITLE_CARDS, TWEEN, CLIP_TO_GIF];
