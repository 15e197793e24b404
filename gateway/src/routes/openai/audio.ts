import { DomainError } from "@nodeloom/kernel";
import { z } from "zod";
import { content, defineRoute, STREAMED, type Reply } from "../../edge/route";
import { check } from "../../http/validate";
import { readFile } from "./files";
import { filesOf, FORM_ERRORS, moreInputs, RUN_ERRORS, running, runToEnd, textOf, type RunContext } from "./runs";
import { readTarget } from "./target";
import { detailsOf, transcript } from "./transcripts";
import { withForm } from "./uploads";
import { IGNORED, TRANSCRIPT_FORMATS } from "./vocabulary";
import { formBody, jsonBody } from "../../http/body/kinds";

const TEXT_TYPE = "text/plain; charset=utf-8";

const text = z.string().min(1);
const speech = z
  .looseObject({
    model: text.meta({ description: "A model's internal name, or `workflow/<slug>`", example: "sandbox-speech" }),
    input: text.meta({ description: "Text to speak" }),
    voice: z.unknown().meta({ description: "For models with voices; other models ignore it" }),
    inputs: moreInputs,
  })
  .meta({ id: "OpenAiSpeechRequest" });
const transcription = z.looseObject({
  model: text,
  file: z.array(z.string()).length(1, "must be one file"),
  response_format: z.enum(TRANSCRIPT_FORMATS).default("json"),
  stream: z.literal("false").optional(),
});
const form = transcription
  .extend({
    file: z
      .string()
      .min(1)
      .meta({ override: { format: "binary" } }),
  })
  .meta({ id: "OpenAiTranscriptionForm" });
const noSound = (executionId: string): DomainError =>
  new DomainError("failed", "EXECUTION_FAILED", "the run returned no audio", { executionId });

const speak = async (context: RunContext, { model, inputs, ...parameters }: z.infer<typeof speech>): Promise<typeof STREAMED> => {
  const target = await readTarget(context.gateway, context.caller, model, "audio");
  const runRequest = { target, inputs: target.inputsOf(parameters, { ignored: IGNORED.speech, own: inputs }) };
  const { result } = await runToEnd(context, runRequest);
  const [url] = filesOf(result, "audios");
  if (url === undefined) throw noSound(context.executionId);
  const { contentType, bytes } = await readFile(context, url);
  context.response.status(200).set("Content-Type", contentType).end(bytes);
  return STREAMED;
};

const transcribe = async (context: RunContext, fields: Readonly<Record<string, unknown>>): Promise<Reply | typeof STREAMED> => {
  const { model, response_format: format, stream: _, ...parameters } = check(transcription, fields);
  const target = await readTarget(context.gateway, context.caller, model, "text");
  const { result } = await runToEnd(context, { target, inputs: target.inputsOf(parameters, { ignored: IGNORED.transcripts }) });
  const plainText = textOf(result);
  if (format === "text") {
    context.response.status(200).set("Content-Type", TEXT_TYPE).end(plainText);
    return STREAMED;
  }
  return { status: 200, body: { text: plainText, ...(format === "verbose_json" ? detailsOf(result.json, parameters.language) : {}) } };
};

export const openAiAudioRoutes = [
  defineRoute({
    ...running,
    path: "/v1/audio/speech",
    operationId: "openaiSpeak",
    summary: "Create speech",
    description: "Returns the bytes of the sound, in the model's format.",
    body: jsonBody(speech),
    responses: { 200: content({ "audio/*": z.string().meta({ override: { format: "binary" } }) }) },
    errors: RUN_ERRORS,
    example: { model: "sandbox-speech", input: "Good evening.", voice: "alloy" },
    handler: (context) => speak(context as RunContext, context.body),
  }),
  defineRoute({
    ...running,
    path: "/v1/audio/transcriptions",
    operationId: "openaiTranscribe",
    summary: "Transcribe audio",
    description: "A form with `file`, `model` and perhaps `response_format`: `json`, `text` or `verbose_json`.",
    body: formBody(form),
    responses: { 200: content({ "application/json": transcript, "text/plain": z.string() }) },
    errors: FORM_ERRORS,
    handler: (context) => withForm(context, "file", (form) => transcribe(context, { ...form.fields, ...form.files })),
  }),
];
