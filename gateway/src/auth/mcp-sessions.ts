import { createHmac, randomUUID, timingSafeEqual } from "node:crypto";

/**
 * Sessions of MCP clients (revisions before 2026-07-28). A session is a signed id without stored state, so every gateway accepts it. It
 * grants nothing, and only separates the calls of clients.
 */
export interface McpSessions {
  issue(userId: string): string;
  isOf(userId: string, sessionId: string): boolean;
}

const SEPARATOR = ".";
const PURPOSE = "mcp session";

/** @param secret shared by all gateways */
export const createMcpSessions = (secret: string): McpSessions => {
  const sign = (userId: string, name: string): string =>
    createHmac("sha256", secret)
      .update(JSON.stringify([PURPOSE, userId, name]))
      .digest("base64url");
  return {
    issue: (userId) => {
      const name = randomUUID();
      return `${name}${SEPARATOR}${sign(userId, name)}`;
    },
    isOf: (userId, sessionId) => {
      const [name = "", signature = "", ...more] = sessionId.split(SEPARATOR);
      const [sentMac, right] = [Buffer.from(signature), Buffer.from(sign(userId, name))];
      return more.length === 0 && sentMac.length === right.length && timingSafeEqual(sentMac, right);
    },
  };
};
