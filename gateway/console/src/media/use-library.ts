import { useInfiniteQuery } from "@tanstack/react-query";
import { useEffect, useMemo } from "react";
import { request } from "../api/client";
import { rememberFiles } from "../api/files";

const PAGE = 60;

/** The person's files, newest first, with paging. */
export const useLibrary = () => {
  const pages = useInfiniteQuery({
    queryKey: ["media", "library"],
    queryFn: async ({ pageParam, signal }) =>
      (await request("listMedia", { query: { limit: PAGE, ...(pageParam === "" ? {} : { cursor: pageParam }) }, signal })).body,
    initialPageParam: "",
    getNextPageParam: ({ nextCursor }) => nextCursor,
  });
  const files = useMemo(() => (pages.data?.pages ?? []).flatMap(({ rows }) => rows), [pages.data]);
  useEffect(() => rememberFiles(files), [files]);
  return { ...pages, files };
};
