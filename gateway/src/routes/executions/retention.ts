/** Retention of executions, as requests set it. */
import { RETENTION_DAYS } from "@nodeloom/kernel";
import { z } from "zod";

export const days = z.number().int().min(RETENTION_DAYS.least).max(RETENTION_DAYS.most);

export const retentionDays = days.optional().meta({
  description:
    "Days for which the execution is kept after its end. The workflow's own value, or that of a rerun's source, counts if it is smaller. With 0, inputs, texts, calls and events are removed at its end; status, result and its files stay for 28 hours",
});
