import { createRequire } from "node:module";
import type { Duplex } from "node:stream";

/** What is used of the driver's connections, which it does not export. */
interface DriverConnection {
  readonly socket: Duplex;
  readonly closed: boolean;
  cleanup(error: Error): void;
}

let isDone = false;

/**
 * Lets commands fail whose connection closes before they are written. A socket that is destroyed takes no write, and tells so as one
 * that is full does: the driver (7.8, 7.9) waits for it to drain, which never happens, and hears of errors meanwhile, but not of the
 * close. Such a command never ended; where it was the check that looks for the server, the process never found the server again.
 */
export const failClosedWrites = (): void => {
  if (isDone) return;
  isDone = true;
  const driver = createRequire(require.resolve("mongoose"));
  const { Connection } = driver("mongodb/lib/cmap/connection.js") as { Connection: { prototype: DriverConnection } };
  const { cleanup } = Connection.prototype;
  Connection.prototype.cleanup = function (this: DriverConnection, error: Error): void {
    const wasOpen = !this.closed;
    cleanup.call(this, error);
    if (!wasOpen) return;
    // Those that wait already, and those that are still on their way to the socket.
    if (this.socket.listenerCount("drain") > 0) this.socket.emit("error", error);
    this.socket.write = () => {
      throw error;
    };
  };
};
