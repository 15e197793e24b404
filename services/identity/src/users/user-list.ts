import { invalidRequest, isLonger } from "@nodeloom/kernel";
import { fromCursor, pageOf } from "@nodeloom/platform";
import { pageSize } from "../page-size";
import type { Tiers } from "../tiers/tiers";
import { toUser, type User } from "./user";
import type { UserStore } from "./user-store";

const MAX_QUERY_CHARS = 254;

export interface UserQuery {
  approved?: boolean;
  /** A part of the address. */
  query: string;
  tier?: string;
  /** Page size; 0 means the default. */
  limit: number;
  cursor: string;
}

export interface UserList {
  users: User[];
  /** Empty on the last page. */
  nextCursor: string;
}

/** Returns a page of users, newest first, and its next cursor. */
export const pageOfUsers = async (
  store: UserStore,
  tiers: Tiers,
  { approved, query, tier, limit, cursor }: UserQuery,
): Promise<UserList> => {
  if (isLonger(query, MAX_QUERY_CHARS)) throw invalidRequest([{ path: "q", message: `must have at most ${MAX_QUERY_CHARS} characters` }]);
  const size = pageSize(limit);
  const after = fromCursor(cursor);
  const rows = await store.page({ approved, tier, query: query.trim().toLowerCase(), after, limit: size + 1 });
  const { rows: records, nextCursor } = pageOf(rows, size, ({ createdAt }) => createdAt);
  const planOf = await tiers.plansOf(records.map(({ tier }) => tier));
  return {
    users: records.map((record) => toUser(record, planOf(record.tier))),
    nextCursor,
  };
};
