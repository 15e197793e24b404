import { toCursor } from "@nodeloom/platform";
import { executions } from "@nodeloom/proto";
import type { ExecutionView } from "../execution-record";
import { executionMessage } from "./view";

/** A page travels as one message, and results may be long: it ends where it would become too large. */
const PAGE_BYTES = 8 * 1024 * 1024;

/**
 * One page of executions: at most `size` of them, fewer where they are large, and at least one.
 * @param rows one more than `size`, where there are as many
 */
export const collectPage = async (
  rows: AsyncIterable<ExecutionView>,
  size: number,
  maxBytes = PAGE_BYTES,
): Promise<executions.ListExecutionsResponse> => {
  const page: executions.Execution[] = [];
  let last: ExecutionView | undefined;
  let bytes = 0;
  for await (const row of rows) {
    const message = executionMessage(row);
    bytes += executions.Execution.encode(message).finish().byteLength;
    if (last && (page.length === size || bytes > maxBytes))
      return { executions: page, nextCursor: toCursor({ at: last.createdAt, id: last._id }) };
    page.push(message);
    last = row;
  }
  return { executions: page, nextCursor: "" };
};
