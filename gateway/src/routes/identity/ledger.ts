import { executionOf, MOVEMENT_KINDS, toCredits } from "@nodeloom/kernel";
import type { billing } from "@nodeloom/proto";
import { z } from "zod";
import { PAGE_DEFAULT } from "../../http/limits";
import { credits, cursor, cursorPage, iso, queryInteger, timestamp } from "../../http/schemas";

const LEDGER_PAGE_MAX = 200;

const ledgerRow = z
  .object({
    id: z.string(),
    kind: z.string(),
    credits: credits.meta({ description: "Signed change of the sum of available and held credits" }),
    moved: credits.meta({ description: "Credits moved between available and held" }),
    executionId: z.string().nullable(),
    keyId: z.string().nullable().meta({ description: "Key that submitted the execution; null for a session" }),
    model: z.string().nullable(),
    runs: z.number().meta({ description: "Trial runs granted, used (negative) or returned" }),
    note: z.string(),
    createdAt: timestamp.nullable(),
  })
  .meta({ id: "LedgerRow" });

export const ledgerPage = cursorPage(ledgerRow);
export const ledgerQuery = z.object({
  limit: queryInteger(1, LEDGER_PAGE_MAX, PAGE_DEFAULT),
  cursor: cursor.optional(),
  kind: z.enum(MOVEMENT_KINDS).optional().meta({ description: "Only entries of this kind" }),
});

export const ledgerRowView = (row: billing.LedgerRow): z.infer<typeof ledgerRow> => ({
  id: row.id,
  kind: row.kind,
  credits: toCredits(row.millicredits),
  moved: toCredits(row.movedMillicredits),
  executionId: executionOf(row.executionId) || null,
  keyId: row.keyId || null,
  model: row.model || null,
  runs: row.runs,
  note: row.note,
  createdAt: iso(row.createdAt),
});
