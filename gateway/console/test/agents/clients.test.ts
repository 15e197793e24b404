import { AGENT_CLIENTS } from "../../src/features/agents/clients";

const URL = "https://loom.example/mcp?models=true";
const KEY = "nl_test_key";

it.each(AGENT_CLIENTS)("the configuration of $title names the address, and the key where it is written down", ({ name, text }) => {
  const configuration = text(URL, KEY);
  expect(configuration).toContain(URL);
  expect(configuration.includes(KEY)).toBe(name !== "vs-code");
  if (name !== "claude-code") expect(() => JSON.parse(configuration) as unknown).not.toThrow();
});

it("lets the bridge of Claude Desktop use plain HTTP where the service does", () => {
  const { text } = AGENT_CLIENTS.find(({ name }) => name === "claude-desktop")!;
  expect(text("http://127.0.0.1:8080/mcp", KEY)).toContain("--allow-http");
  expect(text(URL, KEY)).not.toContain("--allow-http");
});
