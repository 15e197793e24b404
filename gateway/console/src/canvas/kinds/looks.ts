import { approval } from "./approval";
import { generateAudio } from "./generate-audio";
import { generateImage } from "./generate-image";
import { generateVideo } from "./generate-video";
import { httpRequest } from "./http-request";
import { json } from "./json";
import { list } from "./list";
import { llmAssistant } from "./llm-assistant";
import { media } from "./media";
import { mediaUpload } from "./media-upload";
import { note } from "./note";
import { requestInput } from "./request-input";
import { responseOutput } from "./response-output";
import { switchKind } from "./switch";
import { textBox } from "./text-box";
import { workflow } from "./workflow";
import type { Look } from "./look";

/** In the palette's order; kinds without a look follow. */
export const LOOKS: readonly Look[] = [
  requestInput,
  responseOutput,
  textBox,
  llmAssistant,
  generateImage,
  generateVideo,
  generateAudio,
  mediaUpload,
  list,
  httpRequest,
  json,
  switchKind,
  approval,
  media,
  workflow,
  note,
];

/** The kind that holds a text: what a quick fix puts in front of an empty input. */
export const TEXT_TYPE = textBox.type;
/** The kinds that declare a workflow's inputs and its result. */
export const END_TYPES = { inputs: requestInput.type, results: responseOutput.type } as const;
/** The kind that holds a file of the library. */
export const FILE_TYPE = mediaUpload.type;
