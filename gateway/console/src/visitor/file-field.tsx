import { useId, useState } from "react";
import { FILE_FIELD } from "../messages/visitor";

/** Maximum size of a file, which is part of a run's request. */
const MOST_BYTES = 7 * 1024 * 1024;
const MIB = 1024 * 1024;

const dataUrlOf = (file: File): Promise<string> =>
  new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.addEventListener("load", () => resolve(String(reader.result)));
    reader.addEventListener("error", () => reject(new Error("the file can't be read")));
    reader.readAsDataURL(file);
  });

/** A visitor's file, sent with the run. */
export const FileField = ({
  label,
  accept,
  hasDefault,
  onChange,
}: {
  label: string;
  accept: string;
  /** True if a default file is used when the visitor chooses none. */
  hasDefault: boolean;
  onChange: (dataUrl: string | undefined) => void;
}) => {
  const id = useId();
  const [problem, setProblem] = useState<string>();
  const choose = async (file: File | undefined): Promise<void> => {
    setProblem(undefined);
    onChange(undefined);
    if (!file) return;
    if (file.size > MOST_BYTES) return setProblem(FILE_FIELD.tooLarge(MOST_BYTES / MIB));
    await dataUrlOf(file).then(onChange, () => setProblem(FILE_FIELD.unreadable));
  };
  return (
    <div className="flex min-w-0 flex-col gap-1">
      <label htmlFor={id} className="text-[13px] font-medium">
        {label}
      </label>
      <input
        id={id}
        type="file"
        accept={accept}
        aria-describedby={`${id}-note`}
        aria-invalid={problem !== undefined || undefined}
        className="w-full min-w-0 rounded-lg border border-line-strong bg-surface p-2 text-sm"
        onChange={(event) => void choose(event.target.files?.[0])}
      />
      <p
        id={`${id}-note`}
        role={problem === undefined ? undefined : "alert"}
        className={problem === undefined ? "text-xs text-faint" : "text-xs text-bad"}
      >
        {problem ?? (hasDefault ? FILE_FIELD.example : "")}
      </p>
    </div>
  );
};
