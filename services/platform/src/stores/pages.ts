import { invalidRequest } from "@nodeloom/kernel";

/** End of a page in a list sorted by time and id. */
export interface ListPosition {
  at: Date;
  id: string;
}

/** Filter for rows after a position (or before it, with `$lt`). Without a position it matches all rows. */
export const beyond = (field: string, position: ListPosition | undefined, than: "$gt" | "$lt" = "$gt"): Record<string, unknown> => {
  if (!position) return {};
  const { at, id } = position;
  return { $or: [{ [field]: { [than]: at } }, { [field]: at, _id: { [than]: id } }] };
};

/** Milliseconds since 1970, and an id. */
const CURSOR = /^(\d{1,15})\/(\S{1,200})$/;

export const toCursor = ({ at, id }: ListPosition): string => Buffer.from(`${at.getTime()}/${id}`).toString("base64url");

/**
 * A page of at most `size` rows, and the cursor of the next page, which is empty at the end.
 * @param pageRows one row more than a page has, if there are more
 */
export const pageOf = <T extends { _id: string }>(
  pageRows: readonly T[],
  size: number,
  timeOf: (row: T) => Date,
): { rows: T[]; nextCursor: string } => {
  const rows = pageRows.slice(0, size);
  const last = rows.at(-1);
  return { rows, nextCursor: last && pageRows.length > size ? toCursor({ at: timeOf(last), id: last._id }) : "" };
};

/**
 * @returns undefined for the first page
 * @throws INVALID_REQUEST for a malformed cursor
 */
export const fromCursor = (cursor: string): ListPosition | undefined => {
  if (cursor === "") return undefined;
  const [, time, id] = CURSOR.exec(Buffer.from(cursor, "base64url").toString("utf8")) ?? [];
  if (time === undefined || id === undefined)
    throw invalidRequest([{ path: "cursor", message: "doesn't belong to this list: send the nextCursor of its last page" }]);
  return { at: new Date(Number(time)), id };
};

interface Documents {
  find(filter: object, options: object): { toArray(): Promise<{ _id: unknown }[]> };
  deleteMany(filter: object): Promise<{ deletedCount: number }>;
}

/**
 * Deletes at most `limit` documents that match a filter and still match when they are deleted.
 * @param sort order in which documents are deleted
 * @returns the number of deleted documents
 */
export const removeSome = async (
  { collection }: { collection: Documents },
  filter: object,
  limit: number,
  sort: Record<string, 1 | -1> = {},
): Promise<number> => {
  const rows = await collection.find(filter, { projection: { _id: 1 }, limit, sort }).toArray();
  if (rows.length === 0) return 0;
  return (await collection.deleteMany({ ...filter, _id: { $in: rows.map(({ _id }) => _id) } })).deletedCount;
};

/** Escapes a text for a pattern. A zero character would end the pattern in the database's protocol. */
export const escapeRegExp = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&").replaceAll("\0", "\\x00");
