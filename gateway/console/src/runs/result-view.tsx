import { useState } from "react";
import { Code, CopyButton } from "../ui/copy";
import { AnswerTable, isReadable } from "./answers/answer-table";
import { filesIn, valuesIn } from "../media/files-in";
import { Gallery, type Prompts } from "../media/gallery";
import { RESULT_VIEW } from "../messages/runs";

/** Result of a run: files, texts, and the raw JSON. */
export const ResultView = ({ result, prompts }: { result: Readonly<Record<string, unknown>>; prompts?: Prompts | undefined }) => {
  const [raw, setRaw] = useState(false);
  const files = filesIn(result);
  const values = valuesIn(result);
  const json = JSON.stringify(result, undefined, 2);
  return (
    <div className="flex min-w-0 flex-col gap-3">
      {files.length > 0 && <Gallery files={files} prompts={prompts} />}
      {values.map(([name, value]) => (
        <div key={name} className="min-w-0">
          <div className="mb-1 flex items-center justify-between gap-2 text-xs font-medium text-muted">
            <span className="truncate">{name}</span>
            <CopyButton
              compact
              text={typeof value === "string" ? value : JSON.stringify(value, undefined, 2)}
              label={RESULT_VIEW.copy(name)}
            />
          </div>
          {typeof value === "string" ? (
            <p
              dir="auto"
              className="max-h-72 overflow-y-auto rounded-xl border bg-sunken p-3 text-sm whitespace-pre-wrap wrap-anywhere"
              tabIndex={0}
              role="region"
              aria-label={name}
            >
              {value}
            </p>
          ) : isReadable(value) ? (
            <AnswerTable value={value} label={name} />
          ) : (
            <Code text={JSON.stringify(value, undefined, 2)} label={name} />
          )}
        </div>
      ))}
      {files.length + values.length === 0 && <p className="text-sm text-muted">{RESULT_VIEW.empty}</p>}
      <div>
        <button
          type="button"
          aria-expanded={raw}
          className="text-xs font-medium text-accent-text underline underline-offset-2"
          onClick={() => setRaw(!raw)}
        >
          {raw ? RESULT_VIEW.hideJson : RESULT_VIEW.showJson}
        </button>
        {raw && (
          <div className="mt-2">
            <Code text={json} label={RESULT_VIEW.resultAsJson} />
          </div>
        )}
      </div>
    </div>
  );
};
