import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { IMAGE, loadCompose, readEnvFile, ROOT } from "./compose-file";

interface Instruction {
  stage: string;
  name: string;
  text: string;
}

/** Instructions of the Dockerfile with continued lines joined, and their stage. */
const readDockerfile = (): Instruction[] => {
  const lines = readFileSync(join(ROOT, "deploy", "docker", "Dockerfile"), "utf8")
    .split("\n")
    .filter((line) => !line.startsWith("#"))
    .join("\n")
    .replaceAll(/\\\n\s*/g, "")
    .split("\n")
    .filter(Boolean);
  let stage = "";
  return lines.map((line) => {
    const [, name = "", text = ""] = /^(\w+)\s+(.*)$/.exec(line) ?? [];
    if (name === "FROM") stage = / AS (\w+)$/.exec(text)![1]!;
    return { stage, name, text };
  });
};
const instructions = readDockerfile();
const inStage = (stage: string, name: string): string[] =>
  instructions.filter((instruction) => instruction.stage === stage && instruction.name === name).map(({ text }) => text);
const stages = instructions.filter(({ name }) => name === "FROM").map(({ stage }) => stage);

/** The example settings, with a value for each secret. */
const settings = Object.fromEntries(
  Object.entries(readEnvFile(join(ROOT, "deploy", "docker", "example.env"))).map(([name, value]) => [name, value || "x".repeat(64)]),
);
const compose = loadCompose(settings);

describe("the image", () => {
  it("is built from Debian slim with a Node version that the workspaces support", () => {
    const [argument] = instructions.filter(({ name }) => name === "ARG").map(({ text }) => text);
    expect(argument).toMatch(/^NODE_IMAGE=node:24\.\d+\.\d+-bookworm-slim$/);
    const { engines } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as { engines: { node: string } };
    expect(engines.node).toMatch(/^>=20\./);
  });

  it("runs as an unprivileged user, with production settings and without the tools that built it", () => {
    expect(stages.at(-1)).toBe("runtime");
    // The user is numeric, because a cluster that forbids root can't check a name.
    expect(inStage("runtime", "USER")).toEqual(["1000:1000"]);
    const malloc = "MALLOC_ARENA_MAX=2 MALLOC_TRIM_THRESHOLD_=131072";
    expect(inStage("runtime", "ENV")).toEqual([`NODE_ENV=production ${malloc}`]);
    expect(inStage("production", "RUN").join()).toContain("npm ci --omit=dev");
    expect(inStage("runtime", "COPY")).toEqual(["--from=production /app ./", "--from=build /built ./"]);
    const last = instructions.at(-1)!;
    expect([last.name, last.text]).toEqual(["CMD", '["gateway/dist/main.js"]']);
  });

  it("copies only from earlier stages, and only existing files", () => {
    instructions.forEach(({ name, text, stage }) => {
      const source = /--from=(\w+)/.exec(text)?.[1];
      if (name === "COPY" && source) expect(stages.indexOf(source)).toBeLessThan(stages.indexOf(stage));
    });
    const [copy] = inStage("build", "RUN").filter((text) => text.includes("--parents"));
    const sources = copy!
      .replace(/^.*--parents /, "")
      .replace(/ \/built$/, "")
      .split(/\s+/);
    expect(sources).toEqual(
      expect.arrayContaining(["proto/dist", "proto/nodeloom", "gateway/dist", "services/*/dist", "services/models/registry"]),
    );
    for (const source of sources.filter((path) => !path.endsWith("/dist"))) expect(existsSync(join(ROOT, source))).toBe(true);
    expect(inStage("build", "RUN")).toContain("node deploy/local/build.mjs");
    expect(existsSync(join(ROOT, "deploy", "local", "build.mjs"))).toBe(true);
  });

  it("is built from a lock file that npm ci accepts: it includes the optional packages of every platform", () => {
    const { packages } = JSON.parse(readFileSync(join(ROOT, "package-lock.json"), "utf8")) as {
      packages: Record<string, { optionalDependencies?: Record<string, string> }>;
    };
    const missing = Object.entries(packages).flatMap(([path, { optionalDependencies = {} }]) =>
      Object.keys(optionalDependencies).filter(
        (name) => packages[`node_modules/${name}`] === undefined && packages[`${path}/node_modules/${name}`] === undefined,
      ),
    );
    expect(missing).toEqual([]);
  });

  it("contains every file that the compose file runs", () => {
    const copied = inStage("build", "RUN").join(" ");
    const own = Object.values(compose.services).filter(({ image }) => image === IMAGE);
    const files = own.flatMap(({ entrypoint = [], command = [], healthcheck }) => [
      ...entrypoint,
      ...command,
      ...(healthcheck?.test ?? []),
    ]);
    for (const file of files.filter((part) => part.startsWith("deploy/"))) {
      expect(copied).toContain(file);
      expect(existsSync(join(ROOT, file))).toBe(true);
    }
  });

  it("owns the mount points of volumes, so that a new volume can be written", () => {
    const [folders] = inStage("runtime", "RUN").filter((text) => text.includes("install -d"));
    const owned = folders!.replace(/^.*install -d -o 1000 -g 1000 /, "").split(/\s+/);
    for (const { image, volumes = [] } of Object.values(compose.services)) {
      if (image !== IMAGE) continue;
      for (const [, target] of volumes.map((volume) => volume.split(":"))) expect(owned).toContain(target);
    }
  });

  it("is built without secrets, installed packages or the history", () => {
    const ignored = readFileSync(join(ROOT, ".dockerignore"), "utf8").split("\n");
    expect(ignored).toEqual(expect.arrayContaining([".env", ".env.*", ".git", ".nodeloom", "**/node_modules", "**/dist"]));
  });

  it("contains scripts that a shell can parse", () => {
    const scripts = ["make-certs.sh", "make-env.sh", "temporal/schema.sh", "temporal/namespace.sh"];
    for (const script of scripts) execFileSync("sh", ["-n", join(ROOT, "deploy", "docker", script)]);
    execFileSync("bash", ["-n", join(ROOT, "deploy", "docker", "mongo", "start.sh")]);
  });
});
