import { approval } from "./approval";
import { generate3d } from "./generate-3d";
import { generateAudio } from "./generate-audio";
import { generateImage } from "./generate-image";
import { generateVideo } from "./generate-video";
import { httpRequest } from "./http-request";
import { json } from "./json";
import { list } from "./list";
import { llmAssistant } from "./llm-assistant";
import { loop } from "./loop";
import { media } from "./media";
import { mediaUpload } from "./media-upload";
import { note } from "./note";
import { requestInput } from "./request-input";
import { responseOutput } from "./response-output";
import { switchKind } from "./switch";
import { textBox } from "./text-box";
import { workflow } from "./workflow";
import type { Look } from "./look";

/** Looks in palette order. Kinds without a look follow. */
export const LOOKS: readonly Look[] = [
  requestInput,
  responseOutput,
  textBox,
  llmAssistant,
  generateImage,
  generateVideo,
  generateAudio,
  generate3d,
  mediaUpload,
  list,
  httpRequest,
  json,
  switchKind,
  approval,
  media,
  workflow,
  loop,
  note,
];

/** Kind of text nodes, for quick fixes of empty inputs. */
export const TEXT_TYPE = textBox.type;
/** Kinds that declare a workflow's inputs and result. */
export const END_TYPES = { inputs: requestInput.type, results: responseOutput.type } as const;
/** Kind of library files. */
export const FILE_TYPE = mediaUpload.type;
