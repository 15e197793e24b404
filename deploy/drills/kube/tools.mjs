import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { helmProgram } from "../../helm/helm.mjs";
import { GO_BUILD_MS, goTool } from "../../local/build/go.mjs";
import { cached, defaultCacheDir, exists, findExecutable, findOnPath } from "../../local/servers/programs/cache.mjs";
import { runOrExplain, Unavailable } from "../../local/servers/programs/packages.mjs";

const HERE = fileURLToPath(new URL(".", import.meta.url));
const HASH_CHARS = 12;
/** Version that the API server reports to clients, because the build doesn't set it. */
const KUBERNETES = { gitVersion: "v1.36.3", gitMajor: "1", gitMinor: "36" };
const VERSION_FLAGS = Object.entries(KUBERNETES).map(([name, value]) => `-X k8s.io/component-base/version.${name}=${value}`);
const KWOK = "sigs.k8s.io/kwok/cmd/kwok@v0.8.0";

/**
 * Builds a program of a Go module in a folder beside this file once, from its go.mod and go.sum, and caches it. Kubernetes needs a wrapping
 * module, because its parts have paths that only its repository resolves.
 * @param {{ folder: string, package: string, program: string, progress: (line: string) => void }} options
 * @returns {Promise<string>} path of the program; throws Unavailable if this machine can't build it
 */
const wrappedTool = async ({ folder, package: packageName, program, progress }) => {
  const module = join(HERE, folder);
  const sources = await Promise.all(["go.mod", "go.sum"].map((name) => readFile(join(module, name))));
  const hash = createHash("sha256").update(Buffer.concat(sources)).update(packageName).digest("hex").slice(0, HASH_CHARS);
  const entry = join(defaultCacheDir(process.env), "go", `${program}-${hash}`);
  if (!(await exists(entry))) {
    const go = await findOnPath(process.env, "go");
    if (go === undefined) throw new Unavailable("go is not on PATH: install it (Debian: golang)");
    progress(`building ${program}, which takes up to a quarter of an hour, once`);
    const flags = ["-C", module, "build", "-mod=readonly", "-trimpath", "-buildvcs=false", `-ldflags=-s -w ${VERSION_FLAGS.join(" ")}`];
    await cached(entry, (draft) => runOrExplain(go, [...flags, "-o", join(draft, program), packageName], process.env, GO_BUILD_MS));
  }
  const path = await findExecutable(entry, program);
  if (path === undefined) throw new Unavailable(`${packageName} doesn't build to a program`);
  return path;
};

/** @param {string} program @param {(line: string) => void} progress */
const kubernetesProgram = (program, progress) =>
  wrappedTool({ folder: "kubernetes", package: `k8s.io/kubernetes/cmd/${program}`, program, progress });

/**
 * Builds the Kubernetes API server with store, controllers, scheduler and simulated nodes, kubectl and Helm. They are built one after
 * another, because each build uses all cores.
 * @param {(line: string) => void} progress
 */
export const kubernetesTools = async (progress) => ({
  etcd: await wrappedTool({ folder: "etcd", package: ".", program: "etcd", progress }),
  apiServer: await kubernetesProgram("kube-apiserver", progress),
  controllerManager: await kubernetesProgram("kube-controller-manager", progress),
  scheduler: await kubernetesProgram("kube-scheduler", progress),
  kubectl: await kubernetesProgram("kubectl", progress),
  kwok: await goTool({ name: "kwok", tool: KWOK, progress }),
  helm: await helmProgram(progress),
});
