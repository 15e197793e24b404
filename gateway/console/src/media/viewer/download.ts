import { readFile } from "../../api/read-file";
import { complain } from "../../ui/overlays/toast";
import { fileName, plain } from "./file-name";
import type { ViewerItem } from "./store";

const save = (blob: Blob, name: string): void => {
  const url = URL.createObjectURL(blob);
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  // The browser reads the address a moment later.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
};

const blobOf = async ({ file, text }: ViewerItem): Promise<Blob> => {
  if (!file) return new Blob([text ?? ""], { type: "text/plain" });
  return (await readFile(file.url)).blob();
};

export const downloadItem = async (item: ViewerItem): Promise<void> => {
  try {
    save(await blobOf(item), fileName(item));
  } catch (error) {
    complain(error instanceof Error ? error.message : String(error));
  }
};

/** Downloads all items as one ZIP. Files are read one after another. */
export const downloadAll = async (items: readonly ViewerItem[], title: string): Promise<void> => {
  try {
    const { downloadZip } = await import("client-zip");
    const entries = async function* () {
      for (const [index, item] of items.entries()) yield { name: fileName(item, index + 1), input: await blobOf(item) };
    };
    save(await downloadZip(entries()).blob(), `${plain(title)}.zip`);
  } catch (error) {
    complain(error instanceof Error ? error.message : String(error));
  }
};
