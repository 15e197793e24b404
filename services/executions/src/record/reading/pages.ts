import { DomainError, UUID } from "@nodeloom/kernel";
import { executions } from "@nodeloom/proto";
import type { ExecutionView } from "../execution-record";
import { executionMessage } from "./view";

/** A page travels as one message, and results may be long: it ends where it would become too large. */
const PAGE_BYTES = 8 * 1024 * 1024;

/** Where a page begins: after this execution. */
export interface Position {
  createdAt: Date;
  id: string;
}

const cursorOf = ({ createdAt, _id }: ExecutionView): string => Buffer.from(`${createdAt.getTime()}:${_id}`).toString("base64url");

/** @throws INVALID_REQUEST for what is no cursor of ours */
export const readCursor = (cursor: string): Position | undefined => {
  if (cursor === "") return undefined;
  const [at, id] = Buffer.from(cursor, "base64url").toString("utf8").split(":");
  if (!/^\d{1,15}$/.test(at ?? "") || !UUID.test(id ?? "")) {
    throw new DomainError("invalid", "INVALID_REQUEST", "cursor: is not one of this list", {
      issues: [{ path: "cursor", message: "is not one of this list" }],
    });
  }
  return { createdAt: new Date(Number(at)), id: id! };
};

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
    if (last && (page.length === size || bytes > maxBytes)) return { executions: page, nextCursor: cursorOf(last) };
    page.push(message);
    last = row;
  }
  return { executions: page, nextCursor: "" };
};
