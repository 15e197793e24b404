import type { ViewerItem } from "./store";

const MOST_NAME = 60;
/** Words as part of a file name. */
export const plain = (title: string): string =>
  title
    .replace(/[^\p{L}\p{N}]+/gu, "-")
    .replace(/^-|-$/g, "")
    .slice(0, MOST_NAME) || "result";

/**
 * File name of an item: its prompt, or else its title, with the extension of its address.
 * @param number position among several, from 1
 */
export const fileName = ({ title, prompt, file }: Pick<ViewerItem, "title" | "prompt" | "file">, number?: number): string => {
  const ending = file ? (/\.[a-z0-9]{2,5}$/i.exec(new URL(file.url, location.origin).pathname)?.[0] ?? "") : ".txt";
  return `${plain(prompt ?? title)}${number === undefined ? "" : `-${number}`}${ending}`;
};
