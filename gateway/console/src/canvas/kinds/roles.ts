import { mediaUpload } from "./media-upload";
import { requestInput } from "./request-input";
import { responseOutput } from "./response-output";
import { textBox } from "./text-box";

/** Kind of text nodes, for quick fixes of empty inputs. */
export const TEXT_TYPE = textBox.type;
/** Kinds that declare a workflow's inputs and result. */
export const END_TYPES = { inputs: requestInput.type, results: responseOutput.type } as const;
/** Kind of library files. */
export const FILE_TYPE = mediaUpload.type;
