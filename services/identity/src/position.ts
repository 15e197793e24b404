import { invalidRequest } from "@nodeloom/kernel";

/** Where a page of a list that is newest first ended. */
export interface Position {
  at: Date;
  id: string;
}

export const PAGE_DEFAULT = 50;
export const PAGE_MAX = 500;

/** How many rows a page has; 0 asks for the default. */
export const pageSize = (limit: number): number => {
  if (limit < 0 || limit > PAGE_MAX) throw invalidRequest([{ path: "limit", message: `must be between 1 and ${PAGE_MAX}` }]);
  return limit || PAGE_DEFAULT;
};

export const encodeCursor = ({ at, id }: Position): string => Buffer.from(`${at.getTime()} ${id}`).toString("base64url");

/** Undefined for the first page. */
export const decodeCursor = (cursor: string): Position | undefined => {
  if (cursor === "") return undefined;
  const [, time, id] = /^(\d{1,15}) (\S{1,64})$/.exec(Buffer.from(cursor, "base64url").toString("utf8")) ?? [];
  if (!time || !id) throw invalidRequest([{ path: "cursor", message: "is not one of this list" }]);
  return { at: new Date(Number(time)), id };
};
