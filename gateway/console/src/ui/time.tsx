import { ago, dateTime } from "./format";

/** When something was: "3 minutes ago", with the date on the pointer. */
export const Time = ({ iso }: { iso: string | null }) =>
  iso === null ? (
    <span className="text-faint">–</span>
  ) : (
    <time dateTime={iso} title={dateTime(iso)} className="whitespace-nowrap">
      {ago(iso)}
    </time>
  );
