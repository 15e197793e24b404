import { randomUUID } from "node:crypto";
import type { Connection } from "mongoose";
import { insertOnce } from "../stores/mongo";

/** Lets one process at a time do some work, among all processes that share a database. */
export interface Lease {
  /**
   * Takes or renews the lease.
   * @returns whether this process now holds it
   */
  hold(): Promise<boolean>;
  /** Ends the lease, so that another process can take it immediately. */
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
  /** A holder that doesn't renew the lease for this time loses it. */
  leaseMs: number;
}

/**
 * A lease stored in the database whose work it protects. Another process takes the lease after seeing no renewal for `leaseMs`, so clocks
 * are never compared.
 */
export const createLease = ({ connection, name, leaseMs }: LeaseOptions): Lease => {
  const leases = connection.collection<LeaseRecord>("leases");
  const me = randomUUID();
  let lastChange = { mark: "", at: 0 };

  const takeOver = async ({ holder, beat }: LeaseRecord): Promise<boolean> => {
    const mark = `${holder} ${beat}`;
    if (mark !== lastChange.mark) lastChange = { mark, at: performance.now() };
    if (performance.now() - lastChange.at < leaseMs) return false;
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
