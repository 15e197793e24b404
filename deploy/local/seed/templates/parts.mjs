/** What several templates have. */

/** Under the voice, and gone at the end. */
export const MUSIC = { operation: "video-mux", original: "duck", loop: true, volume: 0.5, fadeSeconds: 2.5 };

/** How long music has to be: in whole seconds, as long as models make it. */
export const MUSIC_SECONDS = "max([`5`, min([`120`, ceil(duration)])])";

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
