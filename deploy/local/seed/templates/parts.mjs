/** Background music that fades out at the end. */
export const MUSIC = { operation: "video-mux", original: "duck", loop: true, volume: 0.5, fadeSeconds: 2.5 };

/** Duration of the music: whole seconds within the models' range. */
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
/** A transcription with word times, for captions. */
export const WORDS_OF = { model: "local-transcribe", schema: WORDS };
