import { fileOfForm } from "../../src/http/multipart";

const TYPE = "multipart/form-data; boundary=b";
const field = (index: number): string => `--b\r\nContent-Disposition: form-data; name="p${index}"\r\n\r\nx\r\n`;
const FILE = `--b\r\nContent-Disposition: form-data; name="file"; filename="a.png"\r\n\r\nthe file\r\n`;
const fields = (count: number): string => Array.from({ length: count }, (_, index) => field(index)).join("");

/**
 * Reads a form that arrives in pieces.
 * @returns its fields, and the number of pieces read
 */
const read = async (form: string, pieceBytes = 1_024) => {
  let readCount = 0;

  const source = async function* (): AsyncGenerator<Buffer> {
    for (let at = 0; at < form.length; at += pieceBytes) {
      readCount += 1;
      yield Buffer.from(form.slice(at, at + pieceBytes));
    }
  };
  const pieces: Buffer[] = [];
  try {
    for await (const piece of fileOfForm(source(), TYPE)) pieces.push(piece);
    return { file: Buffer.concat(pieces).toString(), reads: readCount };
  } catch (error) {
    return { problem: (error as { metadata: unknown }).metadata, reads: readCount };
  }
};

describe("a form with a file", () => {
  it.each([1, 16, 100_000])("finds the file after other fields, in chunks of %d bytes", async (pieceBytes) => {
    expect((await read(`${fields(99)}${FILE}${fields(3)}--b--\r\n`, pieceBytes)).file).toBe("the file");
  });

  it("reads no further than its first hundred parts", async () => {
    const issues = [{ path: "", message: "the form's first 100 parts contain no file" }];
    const { problem, reads } = await read(`${fields(2_000)}${FILE}--b--\r\n`);
    expect(problem).toEqual({ issues });
    expect(reads).toBeLessThan(8);
    expect((await read(`${fields(100)}${FILE}--b--\r\n`, 100_000)).problem).toEqual({ issues });
  });

  it("reads a form of many chunks in as little time as one of a few", async () => {
    const warned: unknown[] = [];
    const note = (warning: Error): void => void warned.push(warning.message);
    process.on("warning", note);
    await read(`${FILE.replace("the file", "x".repeat(200))}--b--\r\n`, 1);
    await new Promise(setImmediate);
    process.off("warning", note);
    expect(warned).toEqual([]);
  });

  it.each([1, 100_000])("rejects a second file instead of losing it, in chunks of %d bytes", async (pieceBytes) => {
    const issues = [{ path: "", message: "the form has more than one file: upload each by a request of its own" }];
    const other = FILE.replace('name="file"', 'name="other"');
    for (const more of [FILE, `${fields(2)}${other}`, other.replace("the file", "")])
      expect((await read(`${FILE}${more}--b--\r\n`, pieceBytes)).problem).toEqual({ issues });
    const leftEmpty = other.replace("a.png", "").replace("the file", "");
    expect((await read(`${FILE}${leftEmpty}--b--\r\n`, pieceBytes)).file).toBe("the file");
    expect((await read(`${FILE}${fields(1)}`.slice(0, -4), pieceBytes)).file).toBe("the file");
  });

  it("reports whether a form has no file or is truncated", async () => {
    expect((await read(`${fields(3)}--b--\r\n`)).problem).toEqual({ issues: [{ path: "", message: "the form has no file" }] });
    const broken = await read(FILE.slice(0, -6));
    expect(broken.problem).toEqual({ issues: [{ path: "", message: "the form ends before its last boundary" }] });
  });
});
