import { invalidRequest } from "@nodeloom/kernel";
import type { Tiers } from "./tiers";
import { toUser, type User } from "./user";
import type { UserPage, UserStore } from "./user-store";

const PAGE_DEFAULT = 50;
const PAGE_MAX = 200;
const MAX_QUERY_CHARS = 254;

export interface UserQuery {
  approved?: boolean;
  /** Part of the address. */
  query: string;
  /** 0 means the default. */
  limit: number;
  /** Empty for the first page. */
  cursor: string;
}

export interface UserList {
  users: User[];
  /** Empty at the end. */
  nextCursor: string;
}

type Position = NonNullable<UserPage["after"]>;

const encodeCursor = ({ createdAt, id }: Position): string => Buffer.from(`${createdAt.getTime()} ${id}`).toString("base64url");

const decodeCursor = (cursor: string): Position => {
  const [, time, id] = /^(\d{1,15}) (\S{1,64})$/.exec(Buffer.from(cursor, "base64url").toString("utf8")) ?? [];
  if (!time || !id) throw invalidRequest([{ path: "cursor", message: "is no cursor of this list" }]);
  return { createdAt: new Date(Number(time)), id };
};

/** A page of users, newest first, and where the next one starts. */
export const pageOfUsers = async (store: UserStore, tiers: Tiers, { approved, query, limit, cursor }: UserQuery): Promise<UserList> => {
  if (query.length > MAX_QUERY_CHARS) throw invalidRequest([{ path: "q", message: `must have at most ${MAX_QUERY_CHARS} characters` }]);
  if (limit < 0 || limit > PAGE_MAX) throw invalidRequest([{ path: "limit", message: `must be between 1 and ${PAGE_MAX}` }]);
  const size = limit || PAGE_DEFAULT;
  const after = cursor ? decodeCursor(cursor) : undefined;
  const found = await store.page({ approved, query: query.trim().toLowerCase(), after, limit: size + 1 });
  const records = found.slice(0, size);
  const last = records.at(-1);
  const planOf = await tiers.plansOf(records.map(({ tier }) => tier));
  return {
    users: records.map((record) => toUser(record, planOf(record.tier))),
    nextCursor: last && found.length > size ? encodeCursor({ createdAt: last.createdAt, id: last._id }) : "",
  };
};
