import type { WorkflowSummary } from "@nodeloom/client";
import { ownerOf } from "../../api/organization";

/** Number of cards rendered before the user asks for more. */
export const FIRST_SHOWN = 60;

export interface Filter {
  q?: string | undefined;
  folder?: string | undefined;
  tag?: string | undefined;
  show?: string | undefined;
}

/** Filters the dashboard: `show` is one of templates, archived, hidden; otherwise own workflows of a folder. */
export const filterWorkflows = (all: readonly WorkflowSummary[], ownerId: string, { q, folder, tag, show }: Filter): WorkflowSummary[] => {
  const words = (q ?? "").toLowerCase().split(/\s+/).filter(Boolean);
  const matches = all.filter((workflow) => {
    const text = `${workflow.name} ${workflow.description} ${workflow.slug} ${workflow.tags.join(" ")}`.toLowerCase();
    return words.every((word) => text.includes(word)) && (tag === undefined || workflow.tags.includes(tag));
  });
  const own = matches.filter((workflow) => ownerOf(workflow) === ownerId);
  if (show === "templates") return matches.filter(({ isTemplate }) => isTemplate);
  if (show === "archived") return own.filter(({ archived }) => archived);
  if (show === "hidden") return own.filter(({ hidden }) => hidden);
  const listed = own.filter(({ archived, hidden }) => !archived && !hidden);
  // A search covers all folders.
  if (words.length > 0 || tag !== undefined) return folder === undefined ? listed : listed.filter(({ folderId }) => folderId === folder);
  return listed.filter(({ folderId }) => folderId === (folder ?? null));
};

export const tagsOf = (all: readonly WorkflowSummary[], ownerId: string): string[] =>
  [...new Set(all.filter((workflow) => ownerOf(workflow) === ownerId).flatMap(({ tags }) => tags))].sort((a, b) => a.localeCompare(b));
