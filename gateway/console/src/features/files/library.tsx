import type { MediaFile, Operations } from "@nodeloom/client";
import { request } from "../../api/client";
import { useChange } from "../../api/use-change";
import { fileTitle } from "../../media/file-title";
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
export interface FileFilter {
  kind: string;
  origin: string;
  words: string;
}
export const EVERYTHING: FileFilter = { kind: "", origin: "", words: "" };

export const fits = (file: MediaFile, { kind, origin, words }: FileFilter): boolean =>
  (kind === "" || file.contentType.startsWith(`${kind}/`)) &&
  (origin === "" || (origin === "kept" ? file.kept : file.origin === origin)) &&
  `${fileTitle(file)} ${file.contentType}`.toLowerCase().includes(words.trim().toLowerCase());

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

/** Filters by words, type and origin. */
export const FileFilters = ({ filter, onChange }: { filter: FileFilter; onChange: (filter: FileFilter) => void }) => (
  <>
    <Input
      type="search"
      aria-label={LIBRARY.searchYourFiles}
      placeholder={LIBRARY.searchByNameOrType}
      className="h-8!"
      value={filter.words}
      onText={(text) => onChange({ ...filter, words: text })}
    />
    <Chips label={LIBRARY.type} choices={KINDS} chosen={filter.kind} onChoose={(kind) => onChange({ ...filter, kind })} />
    <Chips label={COMMON.source} choices={ORIGINS} chosen={filter.origin} onChoose={(origin) => onChange({ ...filter, origin })} />
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
