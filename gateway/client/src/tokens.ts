/** Returns a token. It is called before the first request, and again after the service rejects the token. */
export type TokenProvider = () => string | Promise<string>;

/** Current token of requests; concurrent calls share one result. */
export interface Tokens {
  current(): Promise<string>;
  /** Reports that the service rejected a token. */
  refused(token: string): Promise<void>;
}

export const createTokens = (provider: TokenProvider): Tokens => {
  let keptToken: Promise<string> | undefined;
  const ask = (): Promise<string> => {
    const request = (async () => provider())();
    // After a failure, the next request asks for a token again.
    request.catch(() => {
      if (keptToken === request) keptToken = undefined;
    });
    return request;
  };
  return {
    current: () => (keptToken ??= ask()),
    refused: async (token) => {
      const heldToken = keptToken;
      if (heldToken !== undefined && (await heldToken) === token && keptToken === heldToken) keptToken = undefined;
    },
  };
};
