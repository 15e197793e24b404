import { elements, withMember } from "../../text/json-text";
import { kindOf } from "../kinds";
import { isRecord } from "../types";

interface Link {
  slug: string;
  hasVersion: boolean;
}

const linkIn = (nodeJson: string): Link | undefined => {
  const node: unknown = JSON.parse(nodeJson);
  if (!isRecord(node) || typeof node.type !== "string" || !kindOf(node.type)?.isReplaced) return undefined;
  if (!isRecord(node.data) || typeof node.data.slug !== "string") return undefined;
  const { slug, version } = node.data;
  return { slug, hasVersion: version !== undefined && version !== null && version !== "" };
};

/** Slugs of the workflows that a graph's nodes name, without duplicates. @param nodesJson a JSON array; any other text names none */
export const linkedSlugs = (nodesJson: string): string[] => [
  ...new Set(elements(nodesJson).flatMap((nodeJson) => linkIn(nodeJson)?.slug ?? [])),
];

/**
 * Replaces workflow slugs in the nodes of a graph. Everything else keeps its JSON text.
 * @param slugs new slugs by current slug. A node with a replaced slug loses its version, because version numbers belong to one account
 * @returns the new text, and the slugs that lost a version
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
