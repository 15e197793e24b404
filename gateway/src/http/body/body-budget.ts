import { DomainError, unavailable } from "@nodeloom/kernel";

/** Memory of one body while it is received. */
export interface BodyShare {
  /** @throws CONCURRENCY_LIMIT_EXCEEDED (the caller sends too much at once), SERVICE_UNAVAILABLE (all callers together do) */
  add(bytes: number): void;
  end(): void;
}

export interface BodyBudget {
  /** A share for one body of a caller or address. */
  open(owner: string): BodyShare;
}

export interface BodyBudgetOptions {
  perOwner: number;
  overall: number;
}

const RETRY_AFTER_SECONDS = 1;

/** Bounds the memory of bodies being received, by sender and in total. */
export const createBodyBudget = ({ perOwner, overall }: BodyBudgetOptions): BodyBudget => {
  const heldBytes = new Map<string, number>();
  let total = 0;

  const change = (owner: string, bytes: number): void => {
    const remainingBytes = (heldBytes.get(owner) ?? 0) + bytes;
    if (remainingBytes > 0) heldBytes.set(owner, remainingBytes);
    else heldBytes.delete(owner);
    total += bytes;
  };

  return {
    open: (owner) => {
      let own = 0;
      return {
        add: (bytes) => {
          if ((heldBytes.get(owner) ?? 0) + bytes > perOwner) {
            const metadata = { limit: perOwner, retryAfter: RETRY_AFTER_SECONDS };
            throw new DomainError(
              "exhausted",
              "CONCURRENCY_LIMIT_EXCEEDED",
              `more than ${perOwner} bytes of your request bodies are being received: retry`,
              metadata,
            );
          }
          if (total + bytes > overall) throw unavailable("too many request bodies are being received: retry");
          own += bytes;
          change(owner, bytes);
        },
        end: () => {
          change(owner, -own);
          own = 0;
        },
      };
    },
  };
};
