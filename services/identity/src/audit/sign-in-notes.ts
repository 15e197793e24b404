/** Audit rows that identity writes itself, for the owner of an account: failed sign-ins and used recovery codes. */
import { createHash, randomUUID } from "node:crypto";
import type { Logger } from "@nodeloom/platform";
import type { Audit } from "./audit";

/** Failures of one account and address within this time share a row. */
const SHARED_MS = 60_000;

/** Records in the background, so that the time of the answer doesn't show whether an account exists. */
export interface SignInNotes {
  /** A wrong password or code of an existing account. */
  failure(userId: string, address: string): void;
  /** A sign-in with a recovery code. */
  recoveryCode(userId: string, address: string): void;
}

export const createSignInNotes = (
  audit: Pick<Audit, "record">,
  logger: Logger | undefined,
  clock: () => number = Date.now,
): SignInNotes => {
  const record = (row: { id: string; action: string; errorCode: string }, userId: string, address: string): void => {
    const about = { actorId: userId, ownerId: userId, target: userId, ip: address };
    const outcome = row.errorCode === "" ? "done" : "failed";
    audit
      .record({ ...row, ...about, outcome, keyId: "", requestId: "", changeJson: "", beforeJson: "", afterJson: "" })
      .catch((error: unknown) => logger?.warn({ err: error, userId, action: row.action }, "an event isn't in the audit log"));
  };
  return {
    failure: (userId, address) => {
      const parts = ["sign-in", userId, address, Math.floor(clock() / SHARED_MS)];
      const id = createHash("sha256").update(JSON.stringify(parts)).digest("base64url");
      record({ id, action: "session.create", errorCode: "UNAUTHENTICATED" }, userId, address);
    },
    recoveryCode: (userId, address) => record({ id: randomUUID(), action: "recovery-code.use", errorCode: "" }, userId, address),
  };
};
