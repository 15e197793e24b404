/** Audit rows of sign-ins with a wrong password, for the owner of the account. */
import { createHash } from "node:crypto";
import type { Logger } from "@nodeloom/platform";
import type { Audit } from "./audit";

/** Failures of one account and address within this time share a row. */
const SHARED_MS = 60_000;

export type NoteFailure = (userId: string, address: string) => void;

/** Records in the background, so that the time of the answer doesn't show whether an account exists. */
export const createNoteFailure =
  (audit: Pick<Audit, "record">, logger: Logger | undefined, clock: () => number = Date.now): NoteFailure =>
  (userId, address) => {
    const parts = ["sign-in", userId, address, Math.floor(clock() / SHARED_MS)];
    const id = createHash("sha256").update(JSON.stringify(parts)).digest("base64url");
    const about = { id, actorId: userId, ownerId: userId, target: userId, action: "session.create", ip: address };
    const row = { ...about, keyId: "", requestId: "", changeJson: "", beforeJson: "", afterJson: "", errorCode: "" };
    const record = async (): Promise<void> => {
      await audit.record({ ...row, outcome: "pending" });
      await audit.record({ ...row, outcome: "failed", errorCode: "UNAUTHENTICATED" });
    };
    record().catch((error: unknown) => logger?.warn({ err: error, userId }, "a failed sign-in isn't in the audit log"));
  };
