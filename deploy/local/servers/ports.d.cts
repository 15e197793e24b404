/** True if nothing listens on a port of 127.0.0.1. */
export declare const isPortFree: (port: number) => Promise<boolean>;

/** A free port of 127.0.0.1 that this process hasn't handed out. */
export declare const freePort: () => Promise<number>;
/** Reserves a given port; resolves to true if nothing listens on it. */
export declare const reservePort: (port: number) => Promise<boolean>;
