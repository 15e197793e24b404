/** Gives a token: asked before the first request, and again once the service refuses the token that it gave. */
export type TokenProvider = () => string | Promise<string>;

/** The token that requests carry; those that need one at once share one answer. */
export interface Tokens {
  current(): Promise<string>;
  /** The service refused a token. */
  refused(token: string): Promise<void>;
}

export const createTokens = (provider: TokenProvider): Tokens => {
  let kept: Promise<string> | undefined;
  const ask = (): Promise<string> => {
    const asked = (async () => provider())();
    // What failed is asked for again by the next request.
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
