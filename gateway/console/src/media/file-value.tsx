import { FolderOpen, X } from "lucide-react";
import { useEffect } from "react";
import { lookUpFiles, useFiles } from "../api/files";
import { familyOfUrl, isOwnMedia, safeUrl } from "./url";
import { Button, IconButton } from "../ui/button";
import { fileTitle } from "./file-title";
import { InputField } from "../ui/inputs/field";
import { fileOf, type OutputFile } from "./files-in";
import { Thumb } from "./thumb";
import { UploadButton } from "./upload-button";
import { COMMON } from "../messages/common";
import { FILE_VALUE } from "../messages/media";

export interface FileValueProps {
  label: string;
  /** A media id or an address. */
  value: string;
  onChange: (value: string | undefined) => void;
  accept: string;
  hint?: string | undefined;
  error?: string | undefined;
  disabled?: boolean | undefined;
  /** False if uploading isn't possible. */
  isOffered?: boolean;
  /** Opens the library, if the page has one. */
  onChoose?: (() => void) | undefined;
  /** True if the value belongs to the workflow, such as a file of a template's author, which may not be readable. */
  isExample?: boolean;
}

/** A readable file by id or address; undefined for other values. */
export const useKnownFile = (value: string, isExample = false): { file: OutputFile; title: string } | undefined => {
  const isAddress = /^(https?:|data:|\/)/i.test(value);
  const ownFile = useFiles(({ files }) => (isAddress ? undefined : files.get(value)));
  const other = useFiles(({ others }) => (isAddress ? undefined : others.get(value)));
  useEffect(() => {
    if (value !== "" && !isAddress) void lookUpFiles([value]);
  }, [value, isAddress]);
  const knownFile = ownFile ?? other;
  if (knownFile) {
    const file = fileOf(knownFile);
    return file && { file, title: isExample && !ownFile ? FILE_VALUE.exampleFile : fileTitle(knownFile) };
  }
  const url = isAddress ? safeUrl(value) : undefined;
  return url !== undefined && isOwnMedia(url) ? { file: { url, family: familyOfUrl(url) }, title: FILE_VALUE.yourFile } : undefined;
};

/** A file with picture and name, and ways to replace it. */
export const FileValue = ({
  label,
  value,
  onChange,
  accept,
  hint,
  error,
  disabled = false,
  isOffered = true,
  onChoose,
  isExample = false,
}: FileValueProps) => {
  const foundFile = useKnownFile(value, isExample);
  const knownFile = foundFile ?? (isExample ? { file: undefined, title: FILE_VALUE.exampleFile } : undefined);
  const ways = !disabled && (
    <span className="flex gap-1">
      {onChoose && (
        <Button size="sm" icon={FolderOpen} onClick={onChoose}>
          {FILE_VALUE.choose}
        </Button>
      )}
      {isOffered && <UploadButton accept={accept} label={COMMON.upload} onDone={({ id }) => onChange(id)} />}
    </span>
  );
  if (knownFile)
    return (
      <div role="group" aria-label={label} className="flex flex-col gap-1">
        <div className="flex items-center justify-between gap-2">
          <span className="text-[13px] font-medium">{label}</span>
          {ways}
        </div>
        <div className="flex items-center gap-3 rounded-lg border p-2">
          {knownFile.file && (
            <Thumb
              file={knownFile.file}
              label={knownFile.title}
              width={160}
              className="size-16 shrink-0 overflow-hidden rounded-md bg-(--media)"
            />
          )}
          <span className="min-w-0 flex-1 text-sm wrap-anywhere">{knownFile.title}</span>
          {!disabled && <IconButton icon={X} size="sm" label={FILE_VALUE.removeItFrom(label)} onClick={() => onChange(undefined)} />}
        </div>
        {error !== undefined && <p className="text-xs text-bad">{error}</p>}
      </div>
    );
  return (
    <InputField
      label={label}
      error={error}
      hint={hint ?? FILE_VALUE.hint}
      aside={ways}
      value={value}
      disabled={disabled}
      placeholder={FILE_VALUE.https}
      spellCheck={false}
      onText={(text) => onChange(text === "" ? undefined : text)}
    />
  );
};
