import type { executions } from "@nodeloom/proto";

/** A piece of a text that a model is writing. */
export const DELTA = "node.delta";
/** The node of a model's run. Which node of a workflow makes its text is known only from the result. */
const MODEL_NODE = "model";

interface Delta {
  nodeId: string;
  text: string;
  /** The text starts, restarts, or is repeated from its beginning. */
  reset?: boolean;
}

/** Pieces of the text of a model's run. They stop if the text restarts; then the result shows whether it still has the same beginning. */
export async function* textPieces(events: AsyncIterable<executions.WatchExecutionResponse>): AsyncGenerator<string, void> {
  let written = "";
  let isAgain = false;
  for await (const { type, dataJson } of events) {
    if (type !== DELTA || isAgain) continue;
    const { nodeId, text, reset } = JSON.parse(dataJson) as Delta;
    if (nodeId !== MODEL_NODE) continue;
    isAgain = reset === true && !text.startsWith(written);
    const piece = reset ? text.slice(written.length) : text;
    if (isAgain || piece === "") continue;
    written += piece;
    yield piece;
  }
}
