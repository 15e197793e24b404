/** Configuration of common MCP clients. */
import { CLIENTS } from "../../messages/agents";
export interface AgentClient {
  name: string;
  title: string;
  /** File or command that the text belongs to. */
  place: string;
  /**
   * @param url of the endpoint
   * @param key an API key, or a placeholder for one
   */
  text(url: string, key: string): string;
}

export const KEY_PLACEHOLDER = "YOUR_API_KEY";
const NAME = "nodeloom";
const BRIDGE = "mcp-remote@0.15.1";

const json = (value: unknown): string => JSON.stringify(value, undefined, 2);
const bearer = (key: string): string => `Bearer ${key}`;
const isPlainHttp = (url: string): boolean => url.startsWith("http:");

export const AGENT_CLIENTS = [
  {
    name: "claude-code",
    title: CLIENTS.claudeCode,
    place: CLIENTS.inATerminal,
    text: (url, key) => `claude mcp add --transport http ${NAME} '${url}' --header 'Authorization: ${bearer(key)}'`,
  },
  {
    name: "claude-desktop",
    title: CLIENTS.claudeDesktop,
    place: CLIENTS.claudeDesktopHint,
    text: (url, key) =>
      json({
        mcpServers: {
          [NAME]: {
            command: "npx",
            // Windows drops a space inside an argument, so the header's value is a variable.
            args: ["-y", BRIDGE, url, "--header", "Authorization:${AUTHORIZATION}", ...(isPlainHttp(url) ? ["--allow-http"] : [])],
            env: { AUTHORIZATION: bearer(key) },
          },
        },
      }),
  },
  {
    name: "cursor",
    title: CLIENTS.cursor,
    place: CLIENTS.cursorHint,
    text: (url, key) => json({ mcpServers: { [NAME]: { url, headers: { Authorization: bearer(key) } } } }),
  },
  {
    name: "vs-code",
    title: CLIENTS.vsCode,
    place: CLIENTS.vsCodeHint,
    text: (url) =>
      json({
        inputs: [{ type: "promptString", id: `${NAME}-key`, description: CLIENTS.nodeloomApiKey, password: true }],
        servers: { [NAME]: { type: "http", url, headers: { Authorization: bearer(`\${input:${NAME}-key}`) } } },
      }),
  },
  {
    name: "other",
    title: CLIENTS.otherClients,
    place: CLIENTS.otherClientsHint,
    text: (url, key) => json({ mcpServers: { [NAME]: { type: "streamable-http", url, headers: { Authorization: bearer(key) } } } }),
  },
] as const satisfies readonly AgentClient[];

export type AgentClientName = (typeof AGENT_CLIENTS)[number]["name"];
