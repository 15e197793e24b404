import { useId, useState } from "react";
import { FILE_FIELD } from "../messages/visitor";
import { chooserTypes } from "../ui/inputs/accept";
import { Check } from "../ui/inputs/field";

/** Maximum size of the files of a field, which are part of a run's request. */
const MOST_BYTES = 7 * 1024 * 1024;
const MIB = 1024 * 1024;

const dataUrlOf = (file: File): Promise<string> =>
  new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.addEventListener("load", () => resolve(String(reader.result)));
    reader.addEventListener("error", () => reject(new Error("the file can't be read")));
    reader.readAsDataURL(file);
  });

interface FileFieldProps {
  label: string;
  accept: string;
  error: string | undefined;
  /** Maximum files of a list; undefined for a field with one file. */
  most?: number | undefined;
  /** True if the app's own files are used when the visitor chooses none. */
  hasDefault: boolean;
  mayBeEmpty: boolean;
  onFiles: (dataUrls: readonly string[] | undefined) => void;
  /** Called if the visitor wants no file, not even the app's own. */
  onNone: () => void;
}

/** A visitor's files, sent with the run. */
export const FileField = ({ label, accept, error, most, hasDefault, mayBeEmpty, onFiles, onNone }: FileFieldProps) => {
  const id = useId();
  const [problem, setProblem] = useState<string>();
  const [names, setNames] = useState<readonly string[]>([]);
  const [isEmpty, setEmpty] = useState(false);
  const choose = async (files: readonly File[]): Promise<void> => {
    setProblem(undefined);
    setEmpty(false);
    setNames([]);
    onFiles(undefined);
    if (files.length === 0) return;
    if (most !== undefined && files.length > most) return setProblem(FILE_FIELD.tooMany(most));
    if (files.reduce((sum, { size }) => sum + size, 0) > MOST_BYTES) return setProblem(FILE_FIELD.tooLarge(MOST_BYTES / MIB, files.length));
    await Promise.all(files.map(dataUrlOf)).then(
      (urls) => {
        setNames(files.map(({ name }) => name));
        onFiles(urls);
      },
      () => setProblem(FILE_FIELD.unreadable),
    );
  };
  const setNone = (isOn: boolean): void => {
    setEmpty(isOn);
    if (isOn) onNone();
    else onFiles(undefined);
  };
  const shownProblem = problem ?? error;
  return (
    <div className="flex min-w-0 flex-col gap-1">
      <label htmlFor={id} className="text-[13px] font-medium">
        {label}
      </label>
      <input
        id={id}
        type="file"
        accept={chooserTypes(accept)}
        multiple={most !== undefined}
        disabled={isEmpty}
        aria-describedby={`${id}-note`}
        aria-invalid={shownProblem !== undefined || undefined}
        className="w-full min-w-0 rounded-lg border border-line-strong bg-surface p-2 text-sm disabled:opacity-60"
        onChange={(event) => void choose([...(event.target.files ?? [])])}
      />
      {names.length > 1 && (
        <ol className="list-inside list-decimal text-xs text-muted">
          {names.map((name, index) => (
            <li key={index} className="wrap-anywhere">
              {name}
            </li>
          ))}
        </ol>
      )}
      <p
        id={`${id}-note`}
        role={shownProblem === undefined ? undefined : "alert"}
        className={shownProblem === undefined ? "text-xs text-faint" : "text-xs text-bad"}
      >
        {shownProblem ?? (hasDefault && names.length === 0 && !isEmpty ? FILE_FIELD.example : "")}
      </p>
      {hasDefault && mayBeEmpty && names.length === 0 && <Check label={FILE_FIELD.noFile} checked={isEmpty} onCheck={setNone} />}
    </div>
  );
};
