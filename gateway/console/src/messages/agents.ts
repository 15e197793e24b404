export const AGENTS_PAGE = {
  apiKeysRequireThePro: "API keys require the Pro plan",
  agentsConnectWithAnApi: "Agents connect with an API key. The Free plan doesn't include API keys.",
  allowBuildingWorkflows: "Allow building workflows",
  theAgentCanCreateAnd: "The agent can create and change your workflows. Otherwise it can only read and run them.",
  createKeyForAnAgent: "Create key for an agent",
  mcp: (origin: string, value: string) => `${origin}/mcp${value}`,
  connectAnAgent: "Connect an agent",
  agentsFindPriceRunAnd:
    "Agents find, price, run and build your workflows over the Model Context Protocol. Each call states a credit limit.",
  text1Tools: "1. Tools",
  aWorkflowIsItsOwn: "A workflow is its own tool if “Agent tool” is on in its settings. Agents can run all others by name.",
  includeModels: "Include models",
  eachModelThatTheKey: "Each model that the key can run becomes a tool.",
  text2ApiKey: "2. API key",
  theConfigurationBelowContainsThe: "The configuration below contains the key, shown only once",
  copyItNowOnlyIts: "Copy it now. Only its hash is stored, so it can't be shown again.",
  text3Client: "3. Client",
  client: "Client",
  configurationFor: (title: string) => `Configuration for ${title}`,
  key: "Key",
  readMoreInThe: "Read more in the",
  guide: "guide",
};

export const CLIENTS = {
  claudeCode: "Claude Code",
  inATerminal: "In a terminal:",
  claudeDesktop: "Claude Desktop",
  inClaudeDesktopConfigJson:
    "In claude_desktop_config.json (Settings, Developer, Edit Config). It connects to remote servers through a bridge, which needs Node.js:",
  cursor: "Cursor",
  inCursorMcpJsonOr: "In ~/.cursor/mcp.json, or .cursor/mcp.json of a project:",
  vsCode: "VS Code",
  inVscodeMcpJsonVs: "In .vscode/mcp.json. VS Code asks for the key when the server starts:",
  nodeloomApiKey: "Nodeloom API key",
  otherClients: "Other clients",
  mostClientsAcceptThisList:
    "Most clients accept this list of servers. Others ask for the address, the transport (Streamable HTTP) and a header:",
};
