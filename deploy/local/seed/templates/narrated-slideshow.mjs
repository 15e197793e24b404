import { edge, node, textField } from "../graph.mjs";
import { MUSIC, MUSIC_SECONDS, WORDS_OF } from "./parts.mjs";

/** Example photos of the narrated slideshow with their lines. */
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

/** A line for each photo: those of the text, and another one for each further photo. Its value is the photos, then the text. */
const LINE_OF_EACH = `zip([:-1], [split(\`"\\n"\`, [-1])[?@ != ''], map(&'And one more photo.', [:-1])][])[*][1]`;
const MOST_PHOTOS = 50;

/** Shows photos in the rhythm of a voice, with local models only. */
export const NARRATED_SLIDESHOW = {
  slug: "narrated-slideshow",
  name: "Narrated slideshow",
  description:
    "Your photos and a line about each become a film: this machine's own models write and speak the narration, photos move in its rhythm, captions are its words, music lies under it. No key, and nothing leaves the machine.",
  tags: ["film", "photos", "local"],
  nodes: [
    node("input", "request-input", 0, 2, {
      fields: [
        { ...textField("topic", "What the photos are about", "a summer day at the sea"), required: true },
        {
          ...{ name: "photos", type: "image_upload", label: "Photos", required: true, multiple: true, maxItems: MOST_PHOTOS },
          default: PHOTOS.map(([name]) => `sample:${name}.jpg`),
        },
        {
          ...textField("lines", "A line about each photo, in their order", PHOTOS.map(([, line]) => line).join("\n")),
          type: "textarea",
          required: true,
        },
        { name: "narration", type: "select", label: "The narrator is to", options: [WRITTEN, AS_GIVEN], default: WRITTEN },
        { name: "mood", type: "select", label: "Music", options: ["calm", "happy", "sad", "epic", "tense"], default: "happy" },
      ],
      values: {},
    }),
    node("lines", "json", 1, 2, { label: "A line for each photo", expression: LINE_OF_EACH }),
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
      maxItems: MOST_PHOTOS,
    }),
    node("voice", "generate-audio", 4, 2, { model: "local-speech", label: "Voice", maxItems: MOST_PHOTOS }),
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
    "input.photos -> show.images",
    "input.photos -> lines.value",
    "input.lines -> lines.value",
    "lines.value -> choice.value",
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
