import { once } from "node:events";

const LOOPBACK = "127.0.0.1";

/**
 * Makes a server listen on loopback without keeping the process alive.
 * @param {import("node:net").Server} server @param {number} port
 * @param {() => void} breakOff closes open connections when the server stops
 * @returns {Promise<{ stop: () => Promise<void> }>}
 */
export const listenOnLoopback = async (server, port, breakOff) => {
  server.listen(port, LOOPBACK);
  await once(server, "listening");
  server.unref();
  return {
    stop: async () => {
      if (!server.listening) return;
      const closed = once(server, "close");
      server.close();
      breakOff();
      await closed;
    },
  };
};
