import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { MALLOC } from "../../local/run/node-process.mjs";
import { runToEnd } from "../../local/run/to-end.mjs";

/** Runs processes of an image with runc: unprivileged, on a read-only root, without capabilities, on this machine's network. */

export const UID = 1000;
const CWD = "/app";
/** Environment that the image sets. */
const IMAGE_ENV = { PATH: "/usr/local/bin:/usr/bin:/bin", NODE_ENV: "production", ...MALLOC };
const MEMORY_MOUNT = ["nosuid", "nodev", "mode=1777", "size=67108864"];

/** @param {{ rootfs: string, args: string[], env: Record<string, string>, folders: readonly string[], files: readonly string[] }} options */
const bundleOf = ({ rootfs, args, env, folders, files }) => ({
  ociVersion: "1.0.2",
  process: {
    terminal: false,
    user: { uid: UID, gid: UID },
    args,
    env: Object.entries({ ...IMAGE_ENV, ...env }).map(([name, value]) => `${name}=${value}`),
    cwd: CWD,
    capabilities: { bounding: [], effective: [], permitted: [], ambient: [] },
    noNewPrivileges: true,
  },
  root: { path: rootfs, readonly: true },
  mounts: [
    { destination: "/proc", type: "proc", source: "proc" },
    { destination: "/dev", type: "tmpfs", source: "tmpfs", options: ["nosuid", "strictatime", "mode=755", "size=65536k"] },
    { destination: "/tmp", type: "tmpfs", source: "tmpfs", options: MEMORY_MOUNT },
    ...folders.map((path) => ({ destination: path, type: "bind", source: path, options: ["rbind", "rw"] })),
    ...files.map((path) => ({ destination: path, type: "bind", source: path, options: ["rbind", "ro"] })),
  ],
  linux: { namespaces: ["pid", "ipc", "mount"].map((type) => ({ type })), maskedPaths: ["/proc/kcore"], readonlyPaths: ["/proc/sys"] },
});

/** @param {{ rootfs: string, files: readonly string[] }} options `files` of this machine have the same paths in the container */
export const createContainers = async ({ rootfs, files }) => {
  const folder = await mkdtemp(join(tmpdir(), "nodeloom-runc-"));
  const state = join(folder, "state");
  let count = 0;
  return {
    /** Command of a program in the image. @param {{ args: string[], env: Record<string, string>, folders: readonly string[] }} options */
    command: async ({ args, env, folders }) => {
      const id = `nodeloom-${process.pid}-${(count += 1)}`;
      const bundle = join(folder, id);
      await mkdir(bundle);
      await writeFile(join(bundle, "config.json"), JSON.stringify(bundleOf({ rootfs, args, env, folders, files })));
      return { command: "runc", args: ["--root", state, "run", "--bundle", bundle, id], env: process.env };
    },
    /** User and root access of every process, from the kernel. */
    inspect: async () => {
      const { output } = await runToEnd("runc", ["--root", state, "list", "--format", "json"], { cwd: folder });
      const running = JSON.parse(output) ?? [];
      return Promise.all(
        running.map(async (/** @type {{ pid: number }} */ { pid }) => {
          const [status, mounts] = await Promise.all(["status", "mountinfo"].map((name) => readFile(`/proc/${pid}/${name}`, "utf8")));
          const uid = Number(/^Uid:\s+(\d+)/m.exec(status ?? "")?.[1]);
          const capabilities = /^CapEff:\s+(\w+)/m.exec(status ?? "")?.[1];
          return { uid, hasCapabilities: !/^0+$/.test(capabilities ?? ""), isReadOnly: / \/ \/ ro[, ]/.test(mounts ?? "") };
        }),
      );
    },
    remove: () => rm(folder, { recursive: true, force: true }),
  };
};
