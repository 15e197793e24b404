import { createRequire } from "node:module";
import type { Duplex } from "node:stream";

interface DriverConnection {
  readonly socket: Duplex;
  readonly closed: boolean;
  cleanup(error: Error): void;
}

let isDone = false;

/**
 * Fails commands whose connection closes before they are written. The driver (up to 7.9) waits for such a socket to drain, which never
 * happens: it handles errors but not the close. The command would never end. If the command is the driver's server check, the process would
 * never find the server again (docs/adr/0016-patches-of-others-insides.md).
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
    // The event fails commands that wait. The throw fails commands that are being written.
    if (this.socket.listenerCount("drain") > 0) this.socket.emit("error", error);
    this.socket.write = () => {
      throw error;
    };
  };
};
