import type { CallToolResult } from "@modelcontextprotocol/server";
import type { McpContext } from "../calls";
import type { Report } from "../progress";

export interface ToolHead {
  name: string;
  title?: string;
  description: string;
  inputSchema: { type: "object"; [keyword: string]: unknown };
  outputSchema?: { type: "object"; [keyword: string]: unknown };
  annotations: { readOnlyHint: boolean; destructiveHint?: boolean; idempotentHint?: boolean; openWorldHint?: boolean };
}

export const READS = { readOnlyHint: true, openWorldHint: false } as const;

export interface ToolCall {
  context: McpContext;
  /** Arguments by name, as raw JSON. */
  args: ReadonlyMap<string, string>;
  /** Id of the started work: the same if the call is repeated in its session. */
  executionId: string;
  /** Hash of the request within a session; otherwise empty. */
  fingerprint: string;
  report: Report | undefined;
  /** Aborts when the client disconnects. */
  signal: AbortSignal;
  /** True if the calls of a client are cancelled when it disconnects. */
  isCalledOffByLeaving: boolean;
}

export interface Tool extends ToolHead {
  /** Cursor for the page after this tool; undefined for built-in tools, which come first. */
  cursor?: string;
  /** @throws DomainError, which the agent gets as the tool's answer */
  call(call: ToolCall): Promise<CallToolResult>;
}
