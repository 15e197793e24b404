/** Configuration of common MCP clients. */
export interface AgentClient {
  name: string;
  title: string;
  /** Location of the text. */
  place: string;
  /** @param url of the endpoint @param key an API key, or what stands for one */
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
    title: "Claude Code",
    place: "In a terminal:",
    text: (url, key) => `claude mcp add --transport http ${NAME} '${url}' --header 'Authorization: ${bearer(key)}'`,
  },
  {
    name: "claude-desktop",
    title: "Claude Desktop",
    place: "In claude_desktop_config.json (Settings, Developer, Edit Config). It reaches remote servers by a bridge, which needs Node.js:",
    text: (url, key) =>
      json({
        mcpServers: {
          [NAME]: {
            command: "npx",
            // On Windows a space inside an argument is lost, so the header's value is a variable.
            args: ["-y", BRIDGE, url, "--header", "Authorization:${AUTHORIZATION}", ...(isPlainHttp(url) ? ["--allow-http"] : [])],
            env: { AUTHORIZATION: bearer(key) },
          },
        },
      }),
  },
  {
    name: "cursor",
    title: "Cursor",
    place: "In ~/.cursor/mcp.json, or .cursor/mcp.json of a project:",
    text: (url, key) => json({ mcpServers: { [NAME]: { url, headers: { Authorization: bearer(key) } } } }),
  },
  {
    name: "vs-code",
    title: "VS Code",
    place: "In .vscode/mcp.json; it asks for the key when the server starts:",
    text: (url) =>
      json({
        inputs: [{ type: "promptString", id: `${NAME}-key`, description: "Nodeloom API key", password: true }],
        servers: { [NAME]: { type: "http", url, headers: { Authorization: bearer(`\${input:${NAME}-key}`) } } },
      }),
  },
  {
    name: "other",
    title: "Others",
    place:
      "Clients that take a list of servers mostly read this; others ask for the address, the transport (Streamable HTTP) and a header:",
    text: (url, key) => json({ mcpServers: { [NAME]: { type: "streamable-http", url, headers: { Authorization: bearer(key) } } } }),
  },
] as const satisfies readonly AgentClient[];

export type AgentClientName = (typeof AGENT_CLIENTS)[number]["name"];
