import { ago, dateTime } from "./format";

/** A relative time: "3 minutes ago", with the date on hover. */
export const Time = ({ iso }: { iso: string | null }) =>
  iso === null ? (
    <span className="text-faint">–</span>
  ) : (
    <time dateTime={iso} title={dateTime(iso)} className="whitespace-nowrap">
      {ago(iso)}
    </time>
  );
