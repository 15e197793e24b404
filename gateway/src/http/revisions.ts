/** Revisions as entity tags: `"<revision>"`, with a suffix after a hyphen for parts outside the revision. */

/** Matches no revision: an update that requires it is rejected. */
export const NO_REVISION = -1;
const STRONG_TAG = /^"(\d{1,15})(?:-[\w-]+)?"$/;

export const revisionTag = (revision: number, ...more: readonly string[]): string => `"${[revision, ...more].join("-")}"`;

/**
 * Revision required by an If-Match header: undefined for any, NO_REVISION if no tag matches.
 * @param current reads the current revision; called only for several tags
 */
export const matchRevision = async (header: string | undefined, current: () => Promise<number>): Promise<number | undefined> => {
  if (header === undefined || header.trim() === "*") return undefined;
  const revisions = header
    .split(",")
    .map((tag) => STRONG_TAG.exec(tag.trim())?.[1])
    .filter((revision) => revision !== undefined)
    .map(Number);
  if (revisions.length <= 1) return revisions[0] ?? NO_REVISION;
  const now = await current();
  return revisions.includes(now) ? now : NO_REVISION;
};
