import { existsSync, readdirSync } from "node:fs";

/** Machines on which the downloaded engines can run. */

const LOADER = /^ld-linux-x86-64\.so/;

/** The reason why this machine can't run local models; undefined if it can. */
export const unsupported = (platform: string = process.platform, arch: string = process.arch): string | undefined => {
  if (platform !== "linux" || arch !== "x64") return `they need Linux on x64, and this is ${platform} on ${arch}`;
  const hasGlibc = ["/lib64", "/lib/x86_64-linux-gnu"].some(
    (folder) => existsSync(folder) && readdirSync(folder).some((name) => LOADER.test(name)),
  );
  return hasGlibc ? undefined : "they need a Linux with glibc";
};
