/** A free port of 127.0.0.1, reserved for this process. A preferred one is tried first. */
export declare const freePort: (preferred?: number) => Promise<number>;
/** Reserves a given port; resolves to true if nothing listens on it. */
export declare const reservePort: (port: number) => Promise<boolean>;
