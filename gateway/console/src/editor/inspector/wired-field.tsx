import { Link2 } from "lucide-react";
import type { ReactNode } from "react";
import { WIRED_FIELD } from "../../messages/editor/inspector";

/** Shows the source node in place of a linked field. */
export const WiredField = ({ label, from }: { label: ReactNode; from: ReactNode }) => (
  <div className="text-[13px]">
    <div className="font-medium">{label}</div>
    <div className="mt-0.5 flex items-center gap-1.5 text-xs text-muted">
      <Link2 className="size-3.5 shrink-0" aria-hidden /> {WIRED_FIELD.from} {from}
    </div>
  </div>
);
