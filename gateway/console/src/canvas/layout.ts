import type { LayoutReply, LayoutRequest } from "./layout.worker";
import { LAYOUT } from "../messages/canvas";

const DEADLINE_MS = 10_000;

/** Positions from left to right along edges. @throws if the layout takes too long */
export const layOut = (request: LayoutRequest): Promise<LayoutReply> =>
  new Promise((resolve, reject) => {
    const worker = new Worker(new URL("./layout.worker.ts", import.meta.url), { type: "module" });
    const end = (): void => {
      clearTimeout(timer);
      worker.terminate();
    };
    const timer = setTimeout(() => {
      end();
      reject(new Error(LAYOUT.tookTooLong));
    }, DEADLINE_MS);
    worker.onmessage = ({ data }: MessageEvent<LayoutReply>) => {
      end();
      resolve(data);
    };
    worker.onerror = (event) => {
      end();
      reject(new Error(event.message));
    };
    worker.postMessage(request);
  });
