import { readGraph } from "@nodeloom/kernel";
import { credentialIssues } from "@nodeloom/kernel/credentials";
import { elements, withMember } from "@nodeloom/kernel/json-text";

/** A run with this placeholder is rejected with an error that names the secret. */
const PLACEHOLDER = JSON.stringify("{{secrets.REDACTED}}");
const HEADER = /^headers: (.*)$/s;

const pathOf = (setting: string): string[] => {
  const header = HEADER.exec(setting)?.[1];
  return header === undefined ? ["data", setting] : ["data", "headers", header];
};

/** Removes literals that look like credentials from a graph. `places` lists the affected settings. */
export const redacted = (nodesJson: string): { nodesJson: string; places: string[] } => {
  const places: string[] = [];
  const nodes = elements(nodesJson).map((nodeJson) => {
    // Nodes are searched one at a time, because the search is limited per graph.
    const { nodes: readNodes } = readGraph(`[${nodeJson}]`, "[]");
    const settings = credentialIssues({ nodes: readNodes }).flatMap(({ path }) => path ?? []);
    places.push(...settings.map((setting) => `${readNodes[0]!.id}: ${setting}`));
    return settings.reduce((text, setting) => withMember(text, pathOf(setting), PLACEHOLDER), nodeJson);
  });
  return places.length === 0 ? { nodesJson, places } : { nodesJson: `[${nodes.join(",")}]`, places };
};
