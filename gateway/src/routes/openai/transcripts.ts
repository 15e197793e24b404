import { isRecord } from "@nodeloom/kernel";
import { z } from "zod";

/** Transcriptions with times in OpenAI's form: words, and segments for subtitles. */

const word = z.object({ word: z.string(), start: z.number(), end: z.number() });
const segment = z.object({
  id: z.number().int(),
  seek: z.number().int(),
  start: z.number(),
  end: z.number(),
  text: z.string(),
  tokens: z.array(z.number().int()),
  temperature: z.number(),
  avg_logprob: z.number(),
  compression_ratio: z.number(),
  no_speech_prob: z.number(),
});
type Word = z.infer<typeof word>;
type Segment = z.infer<typeof segment>;

export const transcript = z
  .looseObject({
    text: z.string(),
    task: z.literal("transcribe").optional().meta({ description: "With `verbose_json`" }),
    language: z.string().optional().meta({ description: "With `verbose_json`, if the model or the request names it" }),
    duration: z
      .number()
      .optional()
      .meta({ description: "With `verbose_json`: length in seconds from the model, or the end of the last word" }),
    words: z.array(word).optional().meta({ description: "With `verbose_json`, if the model returns them" }),
    segments: z
      .array(segment)
      .optional()
      .meta({ description: "With `verbose_json`: the model's segments, or segments built from its words. Unsupported numbers are 0" }),
  })
  .meta({ id: "OpenAiTranscription" });

type Details = Pick<z.infer<typeof transcript>, "task" | "language" | "duration" | "words" | "segments">;

/** Neutral values for fields that models here don't provide. */
const UNKNOWN = { seek: 0, tokens: [], temperature: 0, avg_logprob: 0, compression_ratio: 0, no_speech_prob: 0 };
/** A segment ends after a sentence, before a silence of this length, or at its maximum length. */
const SILENCE_SECONDS = 0.8;
const MAX_SEGMENT_SECONDS = 10;
const SENTENCE_END = /[.!?…。！？]["'”’)]?$/;

const numberIn = (value: unknown): number | undefined => (typeof value === "number" && Number.isFinite(value) ? value : undefined);

/** A word or segment with its times. Models write them as `start` and `end`, or as a pair. */
const timed = (value: unknown): Word | undefined => {
  if (!isRecord(value)) return undefined;
  const pair: unknown[] = Array.isArray(value.timestamp) ? value.timestamp : [];
  const [text, start, end] = [value.word ?? value.text, numberIn(value.start ?? pair[0]), numberIn(value.end ?? pair[1])];
  return typeof text === "string" && start !== undefined && end !== undefined ? { word: text.trim(), start, end } : undefined;
};

const timedIn = (list: unknown): Word[] => (Array.isArray(list) ? list : []).flatMap((one: unknown) => timed(one) ?? []);

const segmentsOf = (words: readonly Word[]): Segment[] => {
  const groups: Word[][] = [];
  for (const one of words) {
    const group = groups.at(-1);
    const last = group?.at(-1);
    const goesOn =
      group !== undefined &&
      last !== undefined &&
      !SENTENCE_END.test(last.word) &&
      one.start - last.end < SILENCE_SECONDS &&
      one.end - group[0]!.start <= MAX_SEGMENT_SECONDS;
    if (goesOn) group.push(one);
    else groups.push([one]);
  }
  return groups.map((group, id) => ({
    ...{ id, start: group[0]!.start, end: group.at(-1)!.end },
    ...{ text: group.map((one) => one.word).join(" "), ...UNKNOWN },
  }));
};

/**
 * Additional members of `verbose_json`.
 * @param json output of the model: a list of words, or an object with `words` or `segments`
 * @param requestedLanguage language in the request
 */
export const detailsOf = (json: unknown, requestedLanguage: unknown): Details => {
  const sentTranscript = isRecord(json) ? json : { words: json };
  const words = timedIn(sentTranscript.words);
  const timedSegments = timedIn(sentTranscript.segments).map(({ word: text, ...times }, id): Segment => ({
    id,
    ...times,
    text,
    ...UNKNOWN,
  }));
  const segments = timedSegments.length > 0 ? timedSegments : segmentsOf(words);
  const duration = numberIn(sentTranscript.duration) ?? segments.at(-1)?.end;
  const language = [sentTranscript.language, requestedLanguage].find((one) => typeof one === "string");
  return {
    task: "transcribe",
    ...(typeof language === "string" ? { language } : {}),
    ...(duration === undefined ? {} : { duration }),
    ...(words.length > 0 ? { words } : {}),
    ...(segments.length > 0 ? { segments } : {}),
  };
};
