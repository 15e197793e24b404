import { createHash } from "node:crypto";
import { mkdir, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { cached, findOnPath } from "./programs/cache.mjs";
import { runCommand } from "../run/child.mjs";
import { locate } from "./programs/locate.mjs";
import { downloadOfficial, findOfficial } from "./programs/official.mjs";
import { fetchJavaPackage, findJavaPackage, Unavailable } from "./programs/packages.mjs";
import { acceptsConnections, answersMongoPing, waitUntil } from "./probe.mjs";
import { givenServer, readyMsWith, runServer } from "./run-server.mjs";

const HELP = `Provide MongoDB in one of three ways:
  1. set MONGODB_URI to a server that runs already (version 5.0 or newer)
  2. put mongod on PATH
  3. install a JDK 17 and Maven (Debian: default-jdk-headless and maven); an embedded replacement is then fetched by itself`;

const GIVEN_DEADLINE_MS = 10_000;
const MONGOD_VERSION = "7.0.24";

/** @type {import("./programs/official.mjs").OfficialDownload} */
const OFFICIAL = {
  packageName: "mongodb-memory-server-core",
  executable: "mongod",
  script: `
    const { MongoBinary } = await import("mongodb-memory-server-core");
    await MongoBinary.getPath({ version: "${MONGOD_VERSION}", downloadDir: process.argv[1] });
    process.exit(0);`,
};

/** @type {import("./programs/packages.mjs").JavaPackage} */
const EMBEDDED = {
  group: "de.bwaldvogel",
  artifact: "mongo-java-server-h2-backend",
  version: "1.47.0",
  sha256: [
    "8dae62d22db8982c3dcb3826edb9c727c5d302063a67eef7d63d82de401f07d3",
    "9a34c9ad6ac6261906295481838256033ec1efc8c93a3e3828e5d47a006b0bd4",
    "58ca6760a25f8a05adfe8a0f7a8a042ca22bd472869028755931507cdce20e71",
    "4820eeb2d3db269b20b30711e3d7d21979664249aaf10fc67f90dee935810747",
    "6a4ea3cedc831a377e20e32da5df4d2a47b954810e941138e3358e313db3a7f9",
    "76987614ccb2fda7d3292b69ba5b61351f30e91bf5c7d8fa4b51bc32c9f67456",
    "005734e20aceb5e2c030033f7e042c81ee444497efd110cfca8de445642652ac",
    "ae8bb7a077ca02357c922e3abc1acf1bf191d5e2776721d69cbca50a16281096",
    "cfe0c7e6e68d83480a639b533eb7edaaf3252cfae8b73d0e362859673a4f9d97",
    "5d022f3acad74cb0f195f60213500a4000d1340e5e941edaf1a0e756686b9bae",
    "d4ef582c78125457baa0cfa52992b5fb1bb9172d1a2c03b726e8b26e17d3fe2c",
    "fa7841ffe2e39d52251814fb8560d6936b10ae7c67453ee50426b83fd5170ba0",
    "116d766a1af4722fe76a4cdaed969644985d44e08ec1337d2dbab697dd109603",
    "aa8821a7ea2ca47f62740bd1f37d67deb97824cc77e76dde6ae2c439a923fc9d",
    "7b751d952061954d5abfed7181c1f645d336091b679891591d63329c622eb832",
  ],
};

/** Low memory, a quick start and short pauses matter more here than peak speed. Copying a default young generation would take 60 ms. */
const JVM_FLAGS = ["-Xmx512m", "-Xmn24m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto", "-Dfile.encoding=UTF-8"];
const EMBEDDED_SOURCES = fileURLToPath(new URL("embedded-mongo", import.meta.url));

/**
 * A program and the name of its data folder, because the engines can't read one another's files.
 * @typedef {{ command: string, args: (data: string, port: number) => string[], data: string }} Program
 */

/** @param {string} mongod @returns {Program} */
const realProgram = (mongod) => ({
  command: mongod,
  args: (data, port) => ["--dbpath", data, "--port", String(port), "--bind_ip", "127.0.0.1", "--nounixsocket", "--quiet"],
  data: "mongod",
});

/**
 * The embedded server, compiled into the cache once.
 * @param {{ lib: string, cacheDir: string, env: NodeJS.ProcessEnv }} options
 * @returns {Promise<Program>}
 */
const embeddedProgram = async ({ lib, cacheDir, env }) => {
  const [java, javac] = [await findOnPath(env, "java"), await findOnPath(env, "javac")];
  if (java === undefined || javac === undefined)
    throw new Unavailable("java and javac (a JDK 17) are not on PATH (Debian: default-jdk-headless)");
  const sources = (await readdir(EMBEDDED_SOURCES)).sort().map((name) => join(EMBEDDED_SOURCES, name));
  const digest = createHash("sha256").update(lib);
  for (const source of sources) digest.update(await readFile(source));
  const classes = await cached(join(cacheDir, "embedded-mongo", digest.digest("hex").slice(0, 12)), async (folder) => {
    const { ok, tail } = await runCommand(javac, ["--release", "17", "-cp", join(lib, "*"), "-d", folder, ...sources], { env });
    if (!ok) throw new Unavailable(`javac failed (a JDK 17 or newer is needed): ${tail}`);
  });
  return {
    command: java,
    args: (data, port) => [...JVM_FLAGS, "-cp", `${join(lib, "*")}:${classes}`, "EmbeddedMongo", String(port), join(data, "documents.h2")],
    data: "mongodb-embedded",
  };
};

/** @param {{ cacheDir: string, env: NodeJS.ProcessEnv, log: (line: string) => void }} options */
const locateMongo = ({ cacheDir, env, log }) =>
  locate({
    server: "MongoDB",
    help: HELP,
    log,
    /** @type {import("./programs/locate.mjs").Way<Program>[]} */
    ways: [
      {
        source: "path",
        description: "mongod on PATH",
        find: async () => {
          const mongod = await findOnPath(env, "mongod");
          return mongod === undefined ? undefined : realProgram(mongod);
        },
      },
      {
        source: "download",
        description: `official mongod ${MONGOD_VERSION}`,
        find: async () => {
          const mongod = await findOfficial(cacheDir, OFFICIAL);
          return mongod === undefined ? undefined : realProgram(mongod);
        },
        fetch: async () => realProgram(await downloadOfficial({ cacheDir, env, download: OFFICIAL })),
      },
      {
        source: "registry",
        description: `embedded server (${EMBEDDED.artifact} ${EMBEDDED.version})`,
        find: async () => {
          const lib = await findJavaPackage(cacheDir, EMBEDDED);
          return lib === undefined ? undefined : embeddedProgram({ lib, cacheDir, env });
        },
        fetch: async () => {
          if ((await findOnPath(env, "javac")) === undefined) throw new Unavailable("no JDK 17 on PATH (Debian: default-jdk-headless)");
          return embeddedProgram({ lib: await fetchJavaPackage({ cacheDir, env, jar: EMBEDDED }), cacheDir, env });
        },
      },
    ],
  });

/** @param {string} uri an encrypted server, or one found by DNS, can't be probed here */
const checkGiven = async (uri) => {
  const match = /^mongodb:\/\/(?:[^@/]*@)?([^/?]+)/.exec(uri);
  if (match === null) {
    if (uri.startsWith("mongodb+srv://")) return;
    throw new Error("MONGODB_URI must start with mongodb:// or mongodb+srv://");
  }
  const encrypted = /[?&](tls|ssl)=true/.test(uri);
  const hosts = /** @type {string} */ (match[1]).split(",").map((entry) => {
    const { hostname, port } = new URL(`http://${entry}`);
    return { host: hostname.replace(/^\[|\]$/g, ""), port: Number(port || 27017) };
  });
  const probe = async () =>
    (await Promise.all(hosts.map(({ host, port }) => (encrypted ? acceptsConnections(host, port) : answersMongoPing(host, port))))).some(
      Boolean,
    );
  if (await waitUntil(probe, { deadlineMs: GIVEN_DEADLINE_MS })) return;
  throw new Error(`MONGODB_URI is set, but no MongoDB answers at ${match[1]}. Correct it, or unset it to let a server be started.`);
};

/**
 * A MongoDB server: from MONGODB_URI, or started here on loopback.
 * @param {import("./run-server.mjs").StartOptions} options
 * @returns {Promise<import("./run-server.mjs").RunningServer & { uri: string }>} `uri` has no database name
 */
export const startMongodb = async ({ dataDir, cacheDir, port, log = () => {}, output, env = process.env }) => {
  if (env.MONGODB_URI) {
    await checkGiven(env.MONGODB_URI);
    return { uri: env.MONGODB_URI, engine: "given by MONGODB_URI", ...givenServer() };
  }
  const { found, source, description } = await locateMongo({ cacheDir, env, log });
  const data = join(dataDir, found.data);
  await mkdir(data, { recursive: true });
  const server = await runServer({
    name: "MongoDB",
    port,
    command: found.command,
    args: (chosenPort) => found.args(data, chosenPort),
    probe: (chosenPort) => answersMongoPing("127.0.0.1", chosenPort),
    output,
    env,
    readyMs: await readyMsWith(data),
  });
  return {
    uri: `mongodb://127.0.0.1:${server.port}`,
    source,
    engine: description,
    pid: server.child.pid,
    stop: server.stop,
    exited: server.child.exited,
  };
};
