import type { MediaFile } from "@nodeloom/client";
import { keepPreviousData, useInfiniteQuery } from "@tanstack/react-query";
import { useEffect, useMemo, useState } from "react";
import { request } from "../api/client";
import { fileName, filesNamed, lookUpFiles, rememberFiles, useFiles } from "../api/files";

const PAGE = 60;
const TYPING_MS = 250;

export interface LibrarySearch {
  /** Words of a prompt, a model, a workflow, or a name that this browser remembers. */
  words: string;
  /** Time before which files are left out; empty for none. */
  from: string;
}

/** A text once the person stops typing. */
export const useSettled = (text: string): string => {
  const [settledText, setSettled] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), TYPING_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return settledText;
};

const newest = (a: MediaFile, b: MediaFile): number => (b.createdAt ?? "").localeCompare(a.createdAt ?? "");

/** Files by name or type among those that this page has loaded. The service stores no names. */
const useNamed = ({ words, from }: LibrarySearch): readonly MediaFile[] => {
  const files = useFiles((state) => state.files);
  useEffect(() => {
    if (words !== "") void lookUpFiles(filesNamed(words));
  }, [words]);
  return useMemo(() => {
    if (words === "") return [];
    const isNamed = ({ id, contentType, createdAt }: MediaFile): boolean =>
      `${fileName(id) ?? ""} ${contentType}`.toLowerCase().includes(words) && (createdAt ?? "") >= from;
    return [...files.values()].filter(isNamed);
  }, [files, words, from]);
};

/** The person's files that match a search, newest first, with paging. */
export const useLibrary = (search: LibrarySearch = { words: "", from: "" }) => {
  const words = useSettled(search.words.trim().toLowerCase());
  const { from } = search;
  const pages = useInfiniteQuery({
    queryKey: ["media", "library", words, from],
    queryFn: async ({ pageParam, signal }) => {
      const query = { limit: PAGE, ...(words && { q: words }), ...(from && { from }), ...(pageParam && { cursor: pageParam }) };
      return (await request("listMedia", { query, signal })).body;
    },
    initialPageParam: "",
    getNextPageParam: ({ nextCursor }) => nextCursor,
    placeholderData: keepPreviousData,
  });
  const foundFiles = useMemo(() => (pages.data?.pages ?? []).flatMap(({ rows }) => rows), [pages.data]);
  useEffect(() => rememberFiles(foundFiles), [foundFiles]);
  const namedFiles = useNamed({ words, from });
  const files = useMemo(() => {
    const foundIds = new Set(foundFiles.map(({ id }) => id));
    const others = namedFiles.filter(({ id }) => !foundIds.has(id));
    return others.length === 0 ? foundFiles : [...foundFiles, ...others].sort(newest);
  }, [foundFiles, namedFiles]);
  return { ...pages, files };
};
