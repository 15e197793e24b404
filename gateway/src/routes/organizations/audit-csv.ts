/** The audit log as CSV, streamed page by page. */
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { auditOutcome } from "@nodeloom/platform";
import type { identity } from "@nodeloom/proto";
import { stringify } from "csv-stringify";
import { STREAMED, type CallContext } from "../../edge/route";
import { whileConnected } from "../../http/event-stream";
import { iso } from "../../http/schemas";
import { auditedKeyNames } from "../keys/names";

/** Maximum rows of a file. */
const EXPORTED_ROWS = 50_000;
/** Rows that are read at once. */
const PAGE = 500;

export const EXPORT_NOTE = `At most ${EXPORTED_ROWS} rows: split a longer log by \`from\` and \`to\`. The download is a row of the log.`;

const COLUMNS = [
  "at",
  "actor",
  "keyId",
  "ip",
  "action",
  "target",
  "outcome",
  "errorCode",
  "requestId",
  "change",
  "before",
  "after",
  "keyName",
];

type ReadPage = (cursor: string) => Promise<identity.ListAuditResponse>;
type NamesOf = (rows: readonly identity.AuditRow[]) => Promise<ReadonlyMap<string, string>>;

const cellsOf = (row: identity.AuditRow, names: ReadonlyMap<string, string>): string[] => {
  const { actorId, keyId, ip, action, target, errorCode, requestId, changeJson, beforeJson, afterJson } = row;
  const outcomeColumns = [auditOutcome(row), errorCode, requestId, changeJson, beforeJson, afterJson];
  return [iso(row.at) ?? "", actorId, keyId, ip, action, target, ...outcomeColumns, names.get(keyId) ?? ""];
};

async function* records(readPage: ReadPage, namesOf: NamesOf): AsyncGenerator<string[]> {
  yield COLUMNS;
  let [remainingRows, cursor] = [EXPORTED_ROWS, ""];
  do {
    const page = await readPage(cursor);
    const names = await namesOf(page.rows);
    for (const row of page.rows.slice(0, remainingRows)) yield cellsOf(row, names);
    remainingRows -= page.rows.length;
    cursor = page.nextCursor;
  } while (cursor !== "" && remainingRows > 0);
}

interface ExportedLog {
  /** Part of the file's name. */
  name: string;
  /** Undefined for the log of administrators. */
  ownerId: string | undefined;
  filter: identity.AuditFilter;
}

/** Writes rows as fast as the client reads. If the source fails, the connection is closed, so that no partial file looks complete. */
export const streamAudit = async (
  { gateway, response }: Pick<CallContext, "gateway" | "response">,
  { name, ...log }: ExportedLog,
): Promise<typeof STREAMED> => {
  const signal = whileConnected(response, gateway.stopping);
  const readPage: ReadPage = (cursor) => gateway.services.identity.listAudit({ ...log, limit: PAGE, cursor }, { signal });
  response
    .status(200)
    .set({ "Content-Type": "text/csv; charset=utf-8", "Content-Disposition": `attachment; filename="audit-${name}.csv"` });
  // Spreadsheets would treat a cell that starts with = as a formula.
  await pipeline(
    Readable.from(records(readPage, (rows) => auditedKeyNames(gateway, rows, log.ownerId))),
    stringify({ escape_formulas: true }),
    response,
  );
  return STREAMED;
};
