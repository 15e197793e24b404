import { randomUUID } from "node:crypto";
import type { Connection } from "mongoose";
import { insertOnce } from "../stores/mongo";

/** Work that one process at a time does, among all processes that share a database. */
export interface Lease {
  /**
   * Takes or renews the lease.
   * @returns whether this process holds it now
   */
  hold(): Promise<boolean>;
  /** Lets another process take the lease at once. */
  release(): Promise<void>;
}

interface LeaseRecord {
  _id: string;
  holder: string;
  /** Incremented by every renewal. */
  beat: number;
}

export interface LeaseOptions {
  connection: Connection;
  name: string;
  /** A holder that doesn't renew for this long loses the lease. */
  leaseMs: number;
}

/**
 * A lease stored in the database that it protects. Another process takes it after it saw no renewal for a while, so no clocks are
 * compared.
 */
export const createLease = ({ connection, name, leaseMs }: LeaseOptions): Lease => {
  const leases = connection.collection<LeaseRecord>("leases");
  const me = randomUUID();
  let seen = { mark: "", at: 0 };

  const takeOver = async ({ holder, beat }: LeaseRecord): Promise<boolean> => {
    const mark = `${holder} ${beat}`;
    if (mark !== seen.mark) seen = { mark, at: performance.now() };
    if (performance.now() - seen.at < leaseMs) return false;
    const { matchedCount } = await leases.updateOne({ _id: name, holder, beat }, { $set: { holder: me, beat: beat + 1 } });
    return matchedCount === 1;
  };

  return {
    hold: async () => {
      const { matchedCount } = await leases.updateOne({ _id: name, holder: me }, { $inc: { beat: 1 } });
      if (matchedCount === 1) return true;
      const lease = await leases.findOne({ _id: name });
      return lease ? takeOver(lease) : insertOnce(leases.insertOne({ _id: name, holder: me, beat: 0 }));
    },
    release: async () => void (await leases.deleteOne({ _id: name, holder: me })),
  };
};
