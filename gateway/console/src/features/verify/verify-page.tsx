import type { FileVerification } from "@nodeloom/client";
import { LIMITS } from "@nodeloom/kernel/limits";
import { useMutation } from "@tanstack/react-query";
import { FileCheck, LoaderCircle } from "lucide-react";
import { useEffect, useMemo, useState, type DragEvent } from "react";
import { api, messageOf } from "../../api/client";
import { SmallPage } from "../../parts/small-page";
import { classes } from "../../ui/classes";
import { bytes } from "../../ui/format";
import { Notice } from "../../ui/notice";
import { Findings } from "./findings";
import { VERIFY_PAGE } from "../../messages/verify";

const verify = async (file: File): Promise<FileVerification> => {
  if (file.size > LIMITS.verifiedBytes) throw new Error(VERIFY_PAGE.tooLarge(bytes(file.size), bytes(LIMITS.verifiedBytes)));
  return api.verify(file);
};

/** Accepts a file that the person chooses, drops, or pastes anywhere on the page. */
const Drop = ({ busy, onFile }: { busy: boolean; onFile: (file: File) => void }) => {
  const [isOver, setOver] = useState(false);
  useEffect(() => {
    const paste = ({ clipboardData }: ClipboardEvent): void => {
      const file = clipboardData?.files[0];
      if (file) onFile(file);
    };
    addEventListener("paste", paste);
    return () => removeEventListener("paste", paste);
  }, [onFile]);
  const drop = (event: DragEvent): void => {
    event.preventDefault();
    setOver(false);
    const file = event.dataTransfer.files[0];
    if (file) onFile(file);
  };
  const Icon = busy ? LoaderCircle : FileCheck;
  return (
    <label
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={drop}
      className={classes(
        "flex cursor-pointer flex-col items-center gap-1.5 rounded-xl border border-dashed px-4 py-6 text-center text-sm focus-within:border-accent",
        isOver ? "border-accent bg-accent-soft" : "border-line-strong/60 hover:bg-hover",
      )}
    >
      <Icon className={classes("size-5 text-muted", busy && "animate-spin")} aria-hidden />
      <span className="font-medium">{VERIFY_PAGE.chooseAFile}</span>
      <span className="text-xs text-muted">{VERIFY_PAGE.orDropOrPasteIt(bytes(LIMITS.verifiedBytes))}</span>
      <input
        type="file"
        accept="image/*,video/*,audio/*"
        className="sr-only"
        aria-label={VERIFY_PAGE.fileToVerify}
        onChange={({ target }) => {
          const [file] = target.files ?? [];
          // Otherwise choosing the same file again would not be a change.
          target.value = "";
          if (file) onFile(file);
        }}
      />
    </label>
  );
};

/** Address of a picture that only this browser has. */
const usePreview = (file: File | undefined): string | undefined => {
  const url = useMemo(() => (file?.type.startsWith("image/") ? URL.createObjectURL(file) : undefined), [file]);
  useEffect(() => () => void (url !== undefined && URL.revokeObjectURL(url)), [url]);
  return url;
};

/** Shows everyone how a file was made, if its signature is valid, and if this installation signed it. */
export const VerifyPage = () => {
  const { mutate, data, error, isPending, variables } = useMutation({ mutationFn: verify });
  const preview = usePreview(variables);
  return (
    <SmallPage title={VERIFY_PAGE.verifyAFile} lead={VERIFY_PAGE.subtitle}>
      <Drop busy={isPending} onFile={mutate} />
      <div aria-live="polite" className="mt-4 flex flex-col gap-4">
        {variables !== undefined && (
          <div className="flex items-center gap-3">
            {preview !== undefined && (
              <img
                key={preview}
                src={preview}
                alt=""
                className="size-14 flex-none rounded-lg bg-(--board) object-contain"
                // The file's type can be wrong.
                onError={({ currentTarget }) => (currentTarget.hidden = true)}
              />
            )}
            <h2 className="min-w-0 text-sm font-semibold wrap-anywhere">{variables.name}</h2>
          </div>
        )}
        {error !== null && (
          <Notice kind="bad" title={VERIFY_PAGE.cantVerifyThisFile}>
            {messageOf(error)}
          </Notice>
        )}
        {data !== undefined && <Findings found={data} />}
      </div>
    </SmallPage>
  );
};
