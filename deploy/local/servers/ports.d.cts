/** Whether nothing listens on a port of 127.0.0.1. */
export declare const isPortFree: (port: number) => Promise<boolean>;

/** A port of 127.0.0.1 that nothing listens on and that this process has not handed out before. */
export declare const freePort: () => Promise<number>;
/** Keeps a given port from being handed out; resolves whether nothing listens on it. */
export declare const reservePort: (port: number) => Promise<boolean>;
