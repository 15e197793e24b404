/** Returns a token. It is called before the first request, and again after the service rejects the token. */
export type TokenProvider = () => string | Promise<string>;

/** Current token of requests; concurrent calls share one result. */
export interface Tokens {
  current(): Promise<string>;
  /** Reports that the service rejected a token. */
  refused(token: string): Promise<void>;
}

export const createTokens = (provider: TokenProvider): Tokens => {
  let kept: Promise<string> | undefined;
  const ask = (): Promise<string> => {
    const asked = (async () => provider())();
    // After a failure, the next request asks for a token again.
    asked.catch(() => {
      if (kept === asked) kept = undefined;
    });
    return asked;
  };
  return {
    current: () => (kept ??= ask()),
    refused: async (token) => {
      const held = kept;
      if (held !== undefined && (await held) === token && kept === held) kept = undefined;
    },
  };
};
