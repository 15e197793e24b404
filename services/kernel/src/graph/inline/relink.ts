import { elements, withMember } from "../../json-text";
import { workflow } from "../kinds/workflow";
import { isRecord } from "../types";

interface Link {
  slug: string;
  hasVersion: boolean;
}

const linkIn = (nodeJson: string): Link | undefined => {
  const node: unknown = JSON.parse(nodeJson);
  if (!isRecord(node) || node.type !== workflow.type || !isRecord(node.data) || typeof node.data.slug !== "string") return undefined;
  const { slug, version } = node.data;
  return { slug, hasVersion: version !== undefined && version !== null && version !== "" };
};

/** Slugs of the workflows that the nodes of a graph name, each once. @param nodesJson a JSON array; other texts name none */
export const linkedSlugs = (nodesJson: string): string[] => [
  ...new Set(elements(nodesJson).flatMap((nodeJson) => linkIn(nodeJson)?.slug ?? [])),
];

/**
 * Names other workflows in the nodes of a graph. Everything else keeps its form.
 * @param slugs the new slug by the present one. A node that names one of them loses its version: numbers belong to one account
 * @returns the text, and the slugs whose versions were dropped
 */
export const relinked = (nodesJson: string, slugs: ReadonlyMap<string, string>): { nodesJson: string; unpinned: string[] } => {
  const unpinned: string[] = [];
  const nodes = elements(nodesJson).map((nodeJson) => {
    const link = linkIn(nodeJson);
    const slug = link && slugs.get(link.slug);
    if (slug === undefined) return nodeJson;
    if (link!.hasVersion) unpinned.push(link!.slug);
    const unversioned = withMember(nodeJson, ["data", "version"], undefined);
    return link!.slug === slug ? unversioned : withMember(unversioned, ["data", "slug"], JSON.stringify(slug));
  });
  return { nodesJson: `[${nodes.join(",")}]`, unpinned };
};
