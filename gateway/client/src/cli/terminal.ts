export interface Outcome {
  executionId: string;
  result: Readonly<Record<string, unknown>>;
  cost: number;
  ms: number;
}

/** Output of a command: progress on stderr, the result on stdout; with `--json`, only JSON lines on stdout. */
export interface Terminal {
  /** Prints progress. */
  note(text: string): void;
  event(type: string, data: Readonly<Record<string, unknown>>): void;
  /** Prints a part of a text while it is written. The result then prints only the rest. */
  piece(text: string): void;
  /** Prints the result of a run. @param files paths of its saved files */
  result(outcome: Outcome, files: readonly string[]): void;
  table(rows: readonly Readonly<Record<string, unknown>>[], columns: readonly string[]): void;
  /** Prints a value as JSON, or as its text for people. */
  value(value: object, text: string): void;
  text(text: string): void;
  end(exitCode: number, text: string): void;
}

export interface Streams {
  stdout: Pick<NodeJS.WriteStream, "write">;
  stderr: Pick<NodeJS.WriteStream, "write" | "isTTY">;
  exit(code: number): void;
}

/** Names, errors and results can contain control characters that a terminal would execute. Line breaks and tabs stay. */
const CONTROL = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]|\r(?!\n)/g;
const BREAKS = /[\t\n\r]/g;

const escaped = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
const visible = (text: string): string => text.replace(CONTROL, escaped);

const cellText = (value: unknown): string => {
  if (Array.isArray(value)) return value.map(cellText).join(", ");
  const text = typeof value === "string" ? value : value === undefined || value === null ? "" : JSON.stringify(value);
  return visible(text).replace(BREAKS, escaped);
};

const PROGRESS: ReadonlySet<string> = new Set([
  "submitted",
  "node.started",
  "node.progress",
  "node.completed",
  "node.failed",
  "node.skipped",
]);

const jsonTerminal = ({ stdout, exit }: Streams): Terminal => {
  const line = (value: unknown): void => void stdout.write(`${visible(JSON.stringify(value))}\n`);
  return {
    note: () => undefined,
    event: (type, data) => line({ event: type, ...data }),
    piece: () => undefined,
    result: (outcome) => line(outcome),
    table: (rows) => rows.forEach(line),
    value: (value) => line(value),
    text: (text) => line({ text }),
    end: (exitCode, text) => {
      line({ exitCode, message: text });
      exit(exitCode);
    },
  };
};

const plainTerminal = ({ stdout, stderr, exit }: Streams): Terminal => {
  const print = (text: string): void => void stdout.write(visible(text));
  const note = (text: string): void => void stderr.write(`${visible(text)}\n`);
  let writtenText = "";
  return {
    note,
    event: (type, { nodeId, item, items, durationMs, error }) => {
      if (!PROGRESS.has(type) || typeof nodeId !== "string") return;
      const part = typeof items === "number" && items > 1 ? ` ${Number(item ?? 0) + 1}/${items}` : "";
      const time = typeof durationMs === "number" ? ` in ${(durationMs / 1_000).toFixed(1)} s` : "";
      const why = type === "node.failed" ? `: ${(error as { message?: string } | undefined)?.message ?? ""}` : "";
      note(`  ${nodeId}${part} ${type.replace(/^node\./, "")}${time}${why}`);
    },
    piece: (text) => {
      writtenText += text;
      print(text);
    },
    result: ({ result }, files) => {
      if (files.length > 0) return print(`${files.join("\n")}\n`);
      const { text, ...others } = result;
      const isText = typeof text === "string" && Object.keys(others).length === 0;
      if (isText && text.startsWith(writtenText)) return print(`${text.slice(writtenText.length)}\n`);
      if (writtenText !== "") print("\n");
      if (isText) print(`${text}\n`);
      else print(`${JSON.stringify(result, null, 2)}\n`);
    },
    table: (rows, columns) => {
      const cells = [columns, ...rows.map((row) => columns.map((column) => cellText(row[column])))];
      const widths = columns.map((_, at) => Math.max(...cells.map((row) => row[at]!.length)));
      for (const row of cells)
        print(
          `${row
            .map((cell, at) => cell.padEnd(widths[at]!))
            .join("  ")
            .trimEnd()}\n`,
        );
    },
    value: (_value, text) => print(`${text}\n`),
    text: print,
    end: (exitCode, text) => {
      note(text);
      exit(exitCode);
    },
  };
};

export const createTerminal = (isJson: boolean, streams: Streams): Terminal => (isJson ? jsonTerminal(streams) : plainTerminal(streams));
