import type { MediaFile, Operations } from "@nodeloom/client";
import { request } from "../../api/client";
import { useChange } from "../../api/use-change";
import type { LibrarySearch } from "../../media/use-library";
import { bytes } from "../../ui/format";
import { Input } from "../../ui/inputs/field";
import { KEPT_DAYS } from "./tile";
import { COMMON } from "../../messages/common";
import { LIBRARY } from "../../messages/files";

/** The library: files of runs and uploads, as a page and beside the canvas. */

const KINDS = [
  ["", LIBRARY.all],
  ["image", LIBRARY.images],
  ["video", LIBRARY.video],
  ["audio", LIBRARY.audio],
  ["model", LIBRARY.models3d],
] as const;
const ORIGINS = [
  ["", LIBRARY.all],
  ["generated", LIBRARY.generated],
  ["upload", LIBRARY.uploaded],
  ["kept", LIBRARY.kept],
] as const;
const DAYS = [
  ["", LIBRARY.anyTime],
  ["1", LIBRARY.today],
  ["7", LIBRARY.lastDays(7)],
  ["30", LIBRARY.lastDays(30)],
] as const;
export interface FileFilter extends LibrarySearch {
  kind: string;
  origin: string;
  /** Number of days, today included; empty for all. */
  days: string;
}
export const EVERYTHING: FileFilter = { kind: "", origin: "", words: "", days: "", from: "" };

/** The beginning of the first of some days. */
const since = (days: string): string => {
  if (days === "") return "";
  const day = new Date();
  day.setHours(0, 0, 0, 0);
  day.setDate(day.getDate() - Number(days) + 1);
  return day.toISOString();
};

export const fits = (file: MediaFile, { kind, origin }: FileFilter): boolean =>
  (kind === "" || file.contentType.startsWith(`${kind}/`)) && (origin === "" || (origin === "kept" ? file.kept : file.origin === origin));

export const isFiltered = ({ kind, origin, words, days }: FileFilter): boolean => [kind, origin, words.trim(), days].some(Boolean);

const Chips = ({
  label,
  choices,
  chosen,
  onChoose,
}: {
  label: string;
  choices: readonly (readonly [string, string])[];
  chosen: string;
  onChoose: (choice: string) => void;
}) => (
  <div role="group" aria-label={label} className="flex flex-wrap gap-1">
    {choices.map(([value, title]) => (
      <button
        key={value}
        type="button"
        aria-pressed={chosen === value}
        className="rounded-full border px-2.5 py-0.5 text-xs aria-pressed:border-accent aria-pressed:bg-accent-soft aria-pressed:text-accent-text"
        onClick={() => onChoose(value)}
      >
        {title}
      </button>
    ))}
  </div>
);

/** Filters by words, type, origin and time. */
export const FileFilters = ({ filter, onChange }: { filter: FileFilter; onChange: (filter: FileFilter) => void }) => (
  <>
    <Input
      type="search"
      aria-label={LIBRARY.searchYourFiles}
      placeholder={LIBRARY.searchByPrompt}
      className="h-8!"
      value={filter.words}
      onText={(text) => onChange({ ...filter, words: text })}
    />
    <Chips label={LIBRARY.type} choices={KINDS} chosen={filter.kind} onChoose={(kind) => onChange({ ...filter, kind })} />
    <Chips label={COMMON.source} choices={ORIGINS} chosen={filter.origin} onChoose={(origin) => onChange({ ...filter, origin })} />
    <Chips label={LIBRARY.time} choices={DAYS} chosen={filter.days} onChoose={(days) => onChange({ ...filter, days, from: since(days) })} />
  </>
);

/** Text such as "331.9 kB of 10 GB kept · made files stay 90 days". */
export const keptWords = ({ usedBytes, quotaBytes }: Pick<Operations["listMedia"]["response"], "usedBytes" | "quotaBytes">): string =>
  LIBRARY.used(bytes(usedBytes), quotaBytes === null ? "" : bytes(quotaBytes), KEPT_DAYS);

/** Actions for files, the same in every list. */
export const useFileActions = (files: readonly MediaFile[], onDone: () => void) => {
  const { busy, run } = useChange("media");
  return {
    busy,
    remove: async (): Promise<void> => {
      const [one, many] = [LIBRARY.fileDeleted, LIBRARY.filesDeleted(files.length)];
      await run(
        async () => {
          for (const { id } of files) await request("deleteMedia", { params: { id } });
        },
        files.length === 1 ? one : many,
      );
      onDone();
    },
    keep: (): Promise<unknown> =>
      run(async () => {
        for (const { id, kept } of files) if (!kept) await request("keepMedia", { params: { id } });
      }, LIBRARY.keptHint),
  };
};
