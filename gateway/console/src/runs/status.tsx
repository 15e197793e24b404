import { Badge, type Tone } from "../ui/badge";

const TONES: Readonly<Record<string, readonly [string, Tone]>> = {
  processing: ["Running", "accent"],
  completed: ["Completed", "ok"],
  failed: ["Failed", "bad"],
  cancelled: ["Cancelled", "warn"],
  cancel_requested: ["Cancelling", "warn"],
  pending: ["Waiting", "neutral"],
  skipped: ["Skipped", "neutral"],
};

export const statusWords = (status: string): string => TONES[status]?.[0] ?? status;

export const RunStatus = ({ status }: { status: string }) => {
  const [text, tone] = TONES[status] ?? [status, "neutral"];
  return <Badge tone={tone}>{text}</Badge>;
};

const CANCEL_REPORTS: Readonly<Record<string, string>> = {
  stopped: "stopped before anything more was sent",
  provider_told: "the provider was told to stop, and accepted",
  could_not_stop: "the provider could not be told to stop",
};
export const cancelReport = (report: string | undefined): string | undefined =>
  report === undefined ? undefined : (CANCEL_REPORTS[report] ?? report);
