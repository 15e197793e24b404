import { nothingWords } from "./elsewhere";

/** Message for a palette without results. */
export const NothingFound = ({ query }: { query: string }) => <p className="px-4 pb-4 text-sm text-muted">{nothingWords(query)}</p>;
