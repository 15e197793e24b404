import { createEgressClient } from "@nodeloom/platform";

export interface Preview {
  contentType: string;
  bytes: Buffer;
}

export interface Previews {
  /** @param address the file's, signed @returns undefined where there is none, or it has more than some bytes. @throws EgressError while media is not available */
  read(address: string, width: number, maxBytes: number): Promise<Preview | undefined>;
  close(): Promise<void>;
}

/** The transform service may be busy. */
const TIMEOUT_MS = 20_000;
/** Larger than any preview that media creates. */
const MAX_BYTES = 4 * 1024 * 1024;
const OK = 200;

/** @param mediaUrl where media serves files to this process */
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
