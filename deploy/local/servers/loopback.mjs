import { once } from "node:events";

const LOOPBACK = "127.0.0.1";

/**
 * Has a server of this process listen on loopback. It does not keep the process running: whoever started it does.
 * @param {import("node:net").Server} server @param {number} port
 * @param {() => void} breakOff ends what is connected when the server stops
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
