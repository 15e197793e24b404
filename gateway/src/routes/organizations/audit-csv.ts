/** The audit log as CSV, streamed page by page. */
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { identity } from "@nodeloom/proto";
import { stringify } from "csv-stringify";
import type { Response } from "express";
import { iso } from "../../http/schemas";
import { auditView } from "../admin/audit-routes";

/** Maximum rows of a file. */
export const EXPORTED_ROWS = 50_000;

const COLUMNS = ["at", "actor", "keyId", "ip", "action", "target", "outcome", "errorCode", "requestId", "change", "before", "after"];

type ReadPage = (cursor: string) => Promise<identity.ListAuditResponse>;

const cellsOf = (row: identity.AuditRow): string[] => {
  const { outcome } = auditView(row);
  const { actorId, keyId, ip, action, target, errorCode, requestId, changeJson, beforeJson, afterJson } = row;
  const outcomeColumns = [String(outcome), errorCode, requestId, changeJson, beforeJson, afterJson];
  return [iso(row.at) ?? "", actorId, keyId, ip, action, target, ...outcomeColumns];
};

async function* records(readPage: ReadPage): AsyncGenerator<string[]> {
  yield COLUMNS;
  let [remainingRows, cursor] = [EXPORTED_ROWS, ""];
  do {
    const page = await readPage(cursor);
    for (const row of page.rows.slice(0, remainingRows)) yield cellsOf(row);
    remainingRows -= page.rows.length;
    cursor = page.nextCursor;
  } while (cursor !== "" && remainingRows > 0);
}

/** Writes rows as fast as the client reads. If the source fails, the connection is closed, so that no partial file looks complete. */
export const streamAudit = async (response: Response, ownerId: string, readPage: ReadPage): Promise<void> => {
  response
    .status(200)
    .set({ "Content-Type": "text/csv; charset=utf-8", "Content-Disposition": `attachment; filename="audit-${ownerId}.csv"` });
  // Spreadsheets would treat a cell that starts with = as a formula.
  await pipeline(Readable.from(records(readPage)), stringify({ escape_formulas: true }), response);
};
