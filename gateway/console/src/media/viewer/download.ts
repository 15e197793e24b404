import { complain } from "../../ui/overlays/toast";
import type { ViewerItem } from "./store";

const save = (blob: Blob, name: string): void => {
  const url = URL.createObjectURL(blob);
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  // The browser reads it a moment later.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
};

const MOST_NAME = 60;
const plain = (title: string): string =>
  title
    .replace(/[^\p{L}\p{N}]+/gu, "-")
    .replace(/^-|-$/g, "")
    .slice(0, MOST_NAME) || "result";

/** File name of an item: its title, with the extension of its address. */
export const fileName = ({ title, file }: Pick<ViewerItem, "title" | "file">): string => {
  const ending = file ? (/\.[a-z0-9]{2,5}$/i.exec(new URL(file.url, location.origin).pathname)?.[0] ?? "") : ".txt";
  return plain(title) + ending;
};

const blobOf = async ({ file, text }: ViewerItem): Promise<Blob> => {
  if (!file) return new Blob([text ?? ""], { type: "text/plain" });
  const response = await fetch(file.url);
  if (!response.ok) throw new Error(`The file can't be read any more (${response.status}).`);
  return response.blob();
};

export const downloadItem = async (item: ViewerItem): Promise<void> => {
  try {
    save(await blobOf(item), fileName(item));
  } catch (error) {
    complain(error instanceof Error ? error.message : String(error));
  }
};

/** Downloads everything as one ZIP; files are read one after another. */
export const downloadAll = async (items: readonly ViewerItem[], title: string): Promise<void> => {
  try {
    const { downloadZip } = await import("client-zip");
    const entries = async function* () {
      for (const [index, item] of items.entries())
        yield { name: `${String(index + 1).padStart(2, "0")}-${fileName(item)}`, input: await blobOf(item) };
    };
    save(await downloadZip(entries()).blob(), `${plain(title)}.zip`);
  } catch (error) {
    complain(error instanceof Error ? error.message : String(error));
  }
};
