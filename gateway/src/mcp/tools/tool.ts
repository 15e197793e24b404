import type { CallToolResult } from "@modelcontextprotocol/server";
import type { McpContext } from "../calls";
import type { Report } from "../progress";

/** A tool as a list shows it. */
export interface ToolHead {
  name: string;
  title?: string;
  description: string;
  inputSchema: { type: "object"; [keyword: string]: unknown };
  outputSchema?: { type: "object"; [keyword: string]: unknown };
  annotations: { readOnlyHint: boolean; destructiveHint?: boolean; idempotentHint?: boolean; openWorldHint?: boolean };
}

/** One call of a tool. */
export interface ToolCall {
  context: McpContext;
  /** The arguments by name, each as the JSON that was sent. */
  args: ReadonlyMap<string, string>;
  /** The id of what the call starts: the same for a call that is sent again in its session. */
  executionId: string;
  /** Names what is asked for, in a session; otherwise empty. */
  fingerprint: string;
  report: Report | undefined;
  /** Aborts when the client has gone. */
  signal: AbortSignal;
  /** Whether a client that goes calls off what it asked for. */
  isCalledOffByLeaving: boolean;
}

export interface Tool extends ToolHead {
  /** Where a list goes on after it; the platform's own tools, which come first, have none. */
  cursor?: string;
  /** @throws DomainError, which the agent gets as the tool's answer */
  call(call: ToolCall): Promise<CallToolResult>;
}
