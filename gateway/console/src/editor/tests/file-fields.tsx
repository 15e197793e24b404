import type { TestExpectation } from "@nodeloom/client";
import { FileValue } from "../../media/file-value";
import { TEST_FILE } from "../../messages/editor/tests";
import { InputField, SelectField } from "../../ui/inputs/field";
import { NumberField, NumberInput } from "../../ui/inputs/value-inputs";
import { compact, type FileExpectation } from "./expectations";
import type { ErrorAt } from "./error-at";

const KINDS = ["image", "video", "audio", "model3d"] as const;
const RANGES = ["width", "height", "durationMs", "bytes", "loudness"] as const;
type RangeName = (typeof RANGES)[number];
type Range = NonNullable<FileExpectation[RangeName]>;

/** Properties that files of a kind have. */
const OF_KIND: Readonly<Record<(typeof KINDS)[number], ReadonlySet<string>>> = {
  image: new Set(["width", "height", "bytes", "similarTo", "text"]),
  video: new Set(["width", "height", "durationMs", "bytes", "loudness", "similarTo"]),
  audio: new Set(["durationMs", "bytes", "loudness"]),
  model3d: new Set(["bytes"]),
};

const boundsOf = (range: Range | undefined): { min?: number; max?: number } =>
  typeof range === "number" ? { min: range, max: range } : (range ?? {});

/** Equal bounds are an exact number. */
const rangeOf = (bounds: { min?: number | undefined; max?: number | undefined }): Range | undefined => {
  const { min, max } = compact(bounds) as { min?: number; max?: number };
  if (min === undefined && max === undefined) return undefined;
  return min !== undefined && min === max ? min : { ...(min === undefined ? {} : { min }), ...(max === undefined ? {} : { max }) };
};

interface RangeFieldProps {
  name: RangeName;
  range: Range | undefined;
  error: string | undefined;
  onChange: (range: Range | undefined) => void;
}

const RangeField = ({ name, range, error, onChange }: RangeFieldProps) => {
  const { min, max } = boundsOf(range);
  const title = TEST_FILE.ranges[name];
  return (
    <fieldset className="min-w-0">
      <legend className="mb-1 text-[13px] font-medium">{title}</legend>
      <div className="flex items-center gap-2">
        <span className="min-w-0 flex-1">
          <NumberInput
            aria-label={TEST_FILE.least(title)}
            aria-invalid={error !== undefined || undefined}
            value={min}
            onChange={(value) => onChange(rangeOf({ min: value, max }))}
          />
        </span>
        <span className="text-xs text-muted">{TEST_FILE.to}</span>
        <span className="min-w-0 flex-1">
          <NumberInput
            aria-label={TEST_FILE.most(title)}
            aria-invalid={error !== undefined || undefined}
            value={max}
            onChange={(value) => onChange(rangeOf({ min, max: value }))}
          />
        </span>
      </div>
      {error !== undefined && (
        <p role="alert" className="mt-1 text-xs text-bad wrap-anywhere">
          {error}
        </p>
      )}
    </fieldset>
  );
};

interface FileFieldsProps {
  file: FileExpectation;
  errorAt: ErrorAt;
  mayUpload: boolean;
  onChange: (expectation: TestExpectation) => void;
}

/** Properties of a file. Empty ones are not checked. */
export const FileFields = ({ file, errorAt, mayUpload, onChange }: FileFieldsProps) => {
  const set = (changes: { [Name in keyof FileExpectation]: FileExpectation[Name] | undefined }): void =>
    onChange({ file: compact({ ...file, ...changes }) as FileExpectation });
  const isShown = (name: keyof FileExpectation): boolean =>
    file[name] !== undefined || file.kind === undefined || OF_KIND[file.kind].has(name);
  const { similarTo, text } = file;
  return (
    <div className="flex flex-col gap-3">
      <div className="grid gap-3 sm:grid-cols-2">
        <SelectField
          label={TEST_FILE.kind}
          error={errorAt("file.kind")}
          value={file.kind ?? ""}
          onText={(kind) => set({ kind: KINDS.find((one) => one === kind) })}
          options={[["", TEST_FILE.anyKind], ...KINDS.map((kind) => [kind, TEST_FILE.kinds[kind]] as const)]}
        />
        <InputField
          label={TEST_FILE.contentType}
          error={errorAt("file.contentType")}
          placeholder={TEST_FILE.contentTypePlaceholder}
          value={file.contentType ?? ""}
          onText={(contentType) => set({ contentType })}
        />
        {RANGES.filter(isShown).map((name) => (
          <RangeField
            key={name}
            name={name}
            range={file[name]}
            error={errorAt(`file.${name}`)}
            onChange={(range) => set({ [name]: range })}
          />
        ))}
      </div>
      <p className="text-xs text-faint">{TEST_FILE.rangesHint}</p>
      {isShown("similarTo") && (
        <FileValue
          label={TEST_FILE.golden}
          accept="image/*,video/*"
          isOffered={mayUpload}
          value={similarTo?.file ?? ""}
          error={errorAt("file.similarTo.file") ?? errorAt("file.similarTo")}
          onChange={(golden) => set({ similarTo: golden === undefined ? undefined : { ...similarTo, file: golden } })}
        />
      )}
      {similarTo && (
        <div className="grid gap-3 sm:grid-cols-2">
          <SelectField
            label={TEST_FILE.by}
            error={errorAt("file.similarTo.by")}
            value={similarTo.by ?? "ssim"}
            onText={(by) => set({ similarTo: { ...similarTo, by: by === "hash" ? "hash" : "ssim" } })}
            options={Object.entries(TEST_FILE.measures)}
          />
          <NumberField
            label={TEST_FILE.atLeast}
            error={errorAt("file.similarTo.atLeast")}
            placeholder="0.9"
            value={similarTo.atLeast}
            onChange={(atLeast) => set({ similarTo: compact({ ...similarTo, atLeast }) as typeof similarTo })}
          />
        </div>
      )}
      {isShown("text") && (
        <div className="grid gap-3 sm:grid-cols-2">
          {(
            [
              ["contains", TEST_FILE.textContains],
              ["matches", TEST_FILE.textMatches],
            ] as const
          ).map(([name, label]) => (
            <InputField
              key={name}
              label={label}
              error={errorAt(`file.text.${name}`)}
              value={text?.[name] ?? ""}
              onText={(typed) => {
                const next = compact({ ...text, [name]: typed });
                set({ text: Object.keys(next).length === 0 ? undefined : next });
              }}
            />
          ))}
        </div>
      )}
    </div>
  );
};
