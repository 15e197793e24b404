import { randomUUID } from "node:crypto";
import { createGrpcClient } from "@nodeloom/platform";
import { media as mediaProto, usage as usageProto } from "@nodeloom/proto";
import { service as usageService } from "../../../usage/src/main";
import { startWorkflows } from "../../../workflows/test/harness";
import { createRetention } from "../../src/lifecycle/retention";

const DAY_MS = 24 * 60 * 60 * 1_000;
const PNG = `data:;base64,${Buffer.from("89504e470d0a1a0a0000000d49484452", "hex").toString("base64")}`;

it("removes generated files after 90 days, unless they are kept or named", async () => {
  const workflows = await startWorkflows();
  const usage = await usageService.start({
    MONGODB_URI: process.env.MONGODB_URI!,
    MONGODB_DATABASE_PREFIX: workflows.prefix,
    USAGE_LISTEN: "127.0.0.1:0",
    LOG_LEVEL: "silent",
  });
  const address = `127.0.0.1:${usage.ports!.USAGE_LISTEN}`;
  const usageClient = createGrpcClient<usageProto.UsageServiceServer>(usageProto.UsageServiceService, { address });
  try {
    const { media } = workflows;
    const ownerId = randomUUID();
    const generate = async (): Promise<mediaProto.StoredObject> => {
      const request = mediaProto.IngestRequest.fromPartial({ id: `${randomUUID()}-0-0-0`, ownerId, sourceUrl: PNG });
      return (await media.ingest(request, { deadlineMs: 20_000 })).object!;
    };
    const [old, kept, named, cover] = [await generate(), await generate(), await generate(), await generate()];
    await media.keepObject(mediaProto.KeepObjectRequest.fromPartial({ id: kept.id, ownerId }));
    const nodesJson = JSON.stringify([{ id: "m", type: "media-upload", data: { mediaId: named.id } }]);
    await workflows.create(ownerId, { nodesJson, coverJson: JSON.stringify({ image: cover.url }) });
    const retention = (days: number) =>
      createRetention({ media, workflows: workflows.client, usage: usageClient, now: () => new Date(Date.now() + days * DAY_MS) })(
        () => undefined,
      );
    const left = async (): Promise<Set<string>> =>
      new Set((await media.listObjects({ ownerId, limit: 10, cursor: "" })).objects.map(({ id }) => id));

    expect(await retention(89)).toMatchObject({ media: 0 });
    expect(await left()).toEqual(new Set([old.id, kept.id, named.id, cover.id]));
    expect(await retention(91)).toMatchObject({ media: 1 });
    expect(await left()).toEqual(new Set([kept.id, named.id, cover.id]));
  } finally {
    usageClient.close();
    await usage.stop();
    await workflows.stop();
  }
}, 120_000);
