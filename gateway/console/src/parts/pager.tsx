import { Button } from "../ui/button";
import { COMMON } from "../messages/common";

export interface PagerProps {
  cursor: string | undefined;
  /** Null if there are no more pages. */
  nextCursor: string | null | undefined;
  /** Receives undefined for the first page. */
  onTurn: (cursor: string | undefined) => void;
  words?: readonly [first: string, next: string];
  size?: "sm" | "md";
}

/** Page buttons of a list; hidden for a single page. */
export const Pager = ({ cursor, nextCursor, onTurn, words: [first, next] = [COMMON.newest, COMMON.older], size = "md" }: PagerProps) => {
  if (cursor === undefined && !nextCursor) return null;
  return (
    <div className="mt-4 flex justify-end gap-2">
      {cursor !== undefined && (
        <Button size={size} onClick={() => onTurn(undefined)}>
          {first}
        </Button>
      )}
      <Button size={size} disabled={!nextCursor} onClick={() => onTurn(nextCursor ?? undefined)}>
        {next}
      </Button>
    </div>
  );
};
