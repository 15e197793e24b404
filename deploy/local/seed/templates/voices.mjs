import { edge, node, textField } from "../graph.mjs";
import { MUSIC, MUSIC_SECONDS, WORDS_OF } from "./parts.mjs";

/** Templates with speech input or output. */

const PODCAST = {
  slug: "podcast-to-captions",
  name: "Podcast to captions",
  description: "A recording becomes a film to post: levelled, with its words as captions on a picture, and the whole text.",
  tags: ["sound", "video", "local"],
  nodes: [
    node("input", "request-input", 0, 0, {
      fields: [
        { name: "recording", type: "audio_upload", label: "Recording, in English", default: "sample:speech.mp3" },
        { name: "picture", type: "image_upload", label: "Picture", default: "sample:harbour.jpg" },
      ],
      values: {},
    }),
    node("level", "media", 1, 0, { operation: "audio-loudness", label: "Levelled", loudness: -16, format: "m4a" }),
    node("words", "llm-assistant", 1, 1, { ...WORDS_OF, label: "Words and their times" }),
    node("text", "json", 2, 1, { label: "The whole text", expression: "join(' ', words[*].text)" }),
    node("show", "media", 2, 0, { operation: "video-slideshow", label: "Picture and sound", timing: "audio" }),
    node("captioned", "media", 3, 0, { operation: "video-captions", label: "Captions", size: 0.075, position: "centre" }),
    node("output", "response-output", 4, 0, {}),
  ],
  edges: [
    "input.recording -> level.audio",
    "input.recording -> words.audio",
    "input.picture -> show.images",
    "level.audio -> show.audio",
    "show.video -> captioned.video",
    "words.json -> captioned.words",
    "captioned.video -> output.videos",
    "level.audio -> output.audios",
    "words.json -> text.value",
    "text.value -> output.text",
  ].map(edge),
};

export const POSTCARD = {
  slug: "talking-postcard",
  name: "Talking postcard",
  description: "A photo says your greeting aloud, with captions and soft music: a film to send.",
  tags: ["photos", "sound", "video"],
  nodes: [
    node("input", "request-input", 0, 0, {
      fields: [
        { name: "photo", type: "image_upload", label: "Photo", default: "sample:regatta.jpg" },
        {
          ...{ name: "greeting", type: "textarea", label: "Greeting" },
          default: "Greetings from the sea! The wind is fair, the boats are fast, and there is always room for you on deck. See you soon.",
        },
      ],
      values: {},
    }),
    node("voice", "generate-audio", 1, 1, { model: "auto:speech", label: "Voice" }),
    node("show", "media", 2, 0, { operation: "video-slideshow", label: "Photo and voice", timing: "audio" }),
    node("captioned", "media", 3, 0, { operation: "video-captions", label: "Captions" }),
    node("length", "json", 2, 1, { label: "Length of the music", expression: MUSIC_SECONDS }),
    node("music", "generate-audio", 3, 1, { model: "auto:music", label: "Music", inputs: { prompt: "happy and light, a summer day" } }),
    node("scored", "media", 4, 0, { ...MUSIC, label: "Music under the voice" }),
    node("output", "response-output", 5, 0, {}),
  ],
  edges: [
    "input.greeting -> voice.prompt",
    "input.photo -> show.images",
    "voice.audio -> show.audio",
    "voice.audio -> length.value",
    "length.value -> music.seconds",
    "show.video -> captioned.video",
    "input.greeting -> captioned.text",
    "captioned.video -> scored.video",
    "music.audio -> scored.audio",
    "scored.video -> output.videos",
  ].map(edge),
};

const READ_ALOUD = {
  slug: "read-a-picture-aloud",
  name: "Read a picture aloud",
  description: "What is written in a photo of a page or a sign, as text and as a voice.",
  tags: ["pictures", "sound", "local"],
  nodes: [
    node("input", "request-input", 0, 0, {
      fields: [{ name: "photo", type: "image_upload", label: "Photo of a text", default: "sample:page.jpg" }],
      values: {},
    }),
    node("reader", "llm-assistant", 1, 0, { model: "local-ocr", label: "Text of the picture" }),
    node("voice", "generate-audio", 2, 0, { model: "auto:speech", label: "Voice" }),
    node("output", "response-output", 3, 0, {}),
  ],
  edges: ["input.photo -> reader.image", "reader.text -> voice.prompt", "reader.text -> output.text", "voice.audio -> output.audios"].map(
    edge,
  ),
};

export const VOICES = [PODCAST, READ_ALOUD];
