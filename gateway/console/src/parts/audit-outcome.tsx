import type { AuditRow } from "@nodeloom/client";
import { titled } from "../ui/format";
import { Badge } from "../ui/badge";

const TONES = { done: "ok", failed: "bad", pending: "warn" } as const;

export const AuditOutcome = ({ row: { outcome, errorCode } }: { row: AuditRow }) => (
  <Badge tone={TONES[outcome]}>{errorCode ?? titled(outcome)}</Badge>
);
