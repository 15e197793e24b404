import { createEgressClient } from "@nodeloom/platform";

export interface Preview {
  contentType: string;
  bytes: Buffer;
}

export interface Previews {
  /**
   * @param address the file's, signed
   * @returns undefined if there is no preview, or it exceeds `maxBytes`
   * @throws EgressError while media is unavailable
   */
  read(address: string, width: number, maxBytes: number): Promise<Preview | undefined>;
  close(): Promise<void>;
}

/** Includes the time that a busy transform service takes. */
const TIMEOUT_MS = 20_000;
/** Larger than any preview that media creates. */
const MAX_BYTES = 4 * 1024 * 1024;
const OK = 200;

/** @param mediaUrl address of media for this process */
export const createPreviews = (mediaUrl: string): Previews => {
  const { host } = new URL(mediaUrl);
  const base = mediaUrl.replace(/(?<!\/)\/+$/, "");
  const egress = createEgressClient({ allow: [host] });
  return {
    read: async (address, width, maxBytes) => {
      const { pathname, searchParams } = new URL(address);
      searchParams.set("w", String(width));
      const url = `${base}/media/${pathname.split("/").at(-1)!}?${searchParams.toString()}`;
      const { status, headers, body } = await egress.request({ url, timeoutMs: TIMEOUT_MS, maxBytes: MAX_BYTES });
      if (status !== OK || body.length > maxBytes) return undefined;
      return { contentType: headers["content-type"] ?? "", bytes: body };
    },
    close: () => egress.close(),
  };
};
