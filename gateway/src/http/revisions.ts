/** Revisions of a resource as entity tags: `"<revision>"`, and after a hyphen what else the resource shows that is no part of its revision. */

/** Names no revision: an update that asks for it is refused. */
export const NO_REVISION = -1;
const STRONG_TAG = /^"(\d{1,15})(?:-[\w-]+)?"$/;

export const revisionTag = (revision: number, ...more: readonly string[]): string => `"${[revision, ...more].join("-")}"`;

/**
 * The revision an If-Match header asks for: undefined for any, NO_REVISION when its tags name none.
 * @param current reads the revision of now; called only when several tags are given
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
