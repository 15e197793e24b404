import { Badge, type Tone } from "../ui/badge";
import { COMMON } from "../messages/common";
import { STATUS } from "../messages/runs";

const TONES: Readonly<Record<string, readonly [string, Tone]>> = {
  processing: [COMMON.running, "accent"],
  completed: [COMMON.completed, "ok"],
  failed: [COMMON.failed, "bad"],
  cancelled: [COMMON.cancelled, "warn"],
  cancel_requested: [COMMON.cancelling, "warn"],
  pending: [STATUS.waiting, "neutral"],
  skipped: [STATUS.skipped, "neutral"],
};

export const statusWords = (status: string): string => TONES[status]?.[0] ?? status;

export const RunStatus = ({ status }: { status: string }) => {
  const [text, tone] = TONES[status] ?? [status, "neutral"];
  return <Badge tone={tone}>{text}</Badge>;
};

const CANCEL_REPORTS: Readonly<Record<string, string>> = {
  stopped: STATUS.stopped,
  provider_told: STATUS.cancellationAccepted,
  could_not_stop: STATUS.cancellationUnsupported,
};
export const cancelReport = (report: string | undefined): string | undefined =>
  report === undefined ? undefined : (CANCEL_REPORTS[report] ?? report);
