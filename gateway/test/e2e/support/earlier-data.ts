import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { gunzipSync } from "node:zlib";
import { randomUUID } from "node:crypto";
import { connectMongo } from "@nodeloom/platform";
import { mongo } from "mongoose";

/** What an earlier version of the platform had stored: accounts, uploads, templates, covers and runs. */
export interface EarlierData {
  made: {
    accounts: Record<
      "pro" | "business" | "free" | "unapproved" | "enterprise",
      { email: string; password: string; userId: string; apiKey: string }
    >;
    files: Record<"author" | "cover" | "pro", { id: string; url: string; contentType: string; bytes: number }>;
    workflows: Record<"template" | "foreign" | "big" | "own", string>;
    runs: Record<"template" | "own", { executionId: string; body: { result: { images: { url: string }[] } } }>;
    proUsage: number;
  };
  /** Extended JSON by database and collection. */
  documents: Record<string, Record<string, object[]>>;
  /** Base64 by path below the media folder. */
  files: Record<string, string>;
  secrets: Record<"API_KEY_PEPPER" | "SESSION_SECRET" | "BOOTSTRAP_ADMIN_EMAIL" | "BOOTSTRAP_ADMIN_PASSWORD", string>;
}

const FILE = join(__dirname, "..", "fixtures", "earlier-data.json.gz");
const DATABASE = /^nodeloom_/;

/** Puts the data into the test servers. @returns it, and the environment of a platform that starts on it */
export const restoreEarlierData = async (): Promise<{ data: EarlierData; env: Record<string, string> }> => {
  const data = JSON.parse(gunzipSync(readFileSync(FILE)).toString()) as EarlierData;
  const prefix = `earlier_${randomUUID().slice(0, 8)}_`;
  for (const [name, collections] of Object.entries(data.documents)) {
    const connection = await connectMongo({ uri: process.env.MONGODB_URI!, database: name.replace(DATABASE, prefix) });
    for (const [collection, documents] of Object.entries(collections)) {
      const rows = mongo.BSON.EJSON.deserialize(documents as never, { relaxed: false }) as unknown as object[];
      if (rows.length > 0) await connection.collection(collection).insertMany(rows as never[]);
    }
    await connection.close();
  }
  const folder = mkdtempSync(join(tmpdir(), "nodeloom-earlier-"));
  for (const [path, bytes] of Object.entries(data.files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), Buffer.from(bytes, "base64"));
  }
  return { data, env: { ...data.secrets, MONGODB_DATABASE_PREFIX: prefix, MEDIA_DIR: folder, NODELOOM_ENV: "local" } };
};
