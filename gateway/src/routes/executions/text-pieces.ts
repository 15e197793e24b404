import type { executions } from "@nodeloom/proto";

/** A piece of a text that a model is writing. */
export const DELTA = "node.delta";
/** The progress of an unfinished output. */
export const PREVIEW = "node.preview";
/** Node id in a model's run. In a workflow only the result shows which node writes the text. */
const MODEL_NODE = "model";

interface Delta {
  nodeId: string;
  text: string;
  /** The text starts, restarts, or is repeated from its beginning. */
  reset?: boolean;
}

/**
 * Pieces of the text of a model's run. If the text restarts, they stop; then the result shows whether it still starts with the sent pieces.
 */
export async function* textPieces(events: AsyncIterable<executions.WatchExecutionResponse>): AsyncGenerator<string, void> {
  let writtenText = "";
  let isAgain = false;
  for await (const { type, dataJson } of events) {
    if (type !== DELTA || isAgain) continue;
    const { nodeId, text, reset } = JSON.parse(dataJson) as Delta;
    if (nodeId !== MODEL_NODE) continue;
    isAgain = reset === true && !text.startsWith(writtenText);
    const piece = reset ? text.slice(writtenText.length) : text;
    if (isAgain || piece === "") continue;
    writtenText += piece;
    yield piece;
  }
}
