import { invalidRequest } from "@nodeloom/kernel";
import { clientStream, pieces, serverStream, unary } from "@nodeloom/platform";
import { mediaExports as proto } from "@nodeloom/proto";
import type { Exports } from "./exports";
import type { StoredExport } from "./export-store";

const toMessage = ({ bytes, createdAt, expiresAt, isPartial }: StoredExport): proto.StoredExport =>
  proto.StoredExport.fromPartial({ bytes, createdAt, expiresAt, isPartial });

const ORDER = invalidRequest([{ path: "part", message: "must be a header, then chunks, then the summary" }]);

const put = async (exports: Exports, requests: AsyncIterable<proto.PutExportRequest>): Promise<proto.PutExportResponse> => {
  const messages = requests[Symbol.asyncIterator]();
  const first = await messages.next();
  const header = first.done ? undefined : first.value.part;
  if (header?.$case !== "header" || header.value.ownerId === "") throw ORDER;
  let summary: proto.ExportSummary | undefined;
  async function* chunks(): AsyncIterable<Uint8Array> {
    for (let next = await messages.next(); !next.done; next = await messages.next()) {
      const { part } = next.value;
      if (part?.$case === "summary" && !summary) summary = part.value;
      else if (part?.$case === "chunk" && !summary) yield part.value;
      else throw ORDER;
    }
  }
  const stored = await exports.put(header.value.ownerId, chunks(), () => {
    if (!summary) throw ORDER;
    return summary;
  });
  return proto.PutExportResponse.fromPartial({ export: toMessage(stored) });
};

async function* chunksOf(exports: Exports, ownerId: string): AsyncIterable<proto.ReadExportResponse> {
  for await (const chunk of pieces(await exports.read(ownerId))) yield { chunk };
}

export const exportsHandlers = (exports: Exports): proto.ExportsServiceServer => ({
  putExport: clientStream(
    (requests) => put(exports, requests),
    ({ part }) => part?.$case === "end",
  ),
  getExport: unary(async ({ ownerId }) => {
    const row = await exports.find(ownerId);
    return proto.GetExportResponse.fromPartial(row ? { export: toMessage(row) } : {});
  }),
  readExport: serverStream(({ ownerId }) => chunksOf(exports, ownerId)),
});
