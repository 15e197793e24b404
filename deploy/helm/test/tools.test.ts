import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, join } from "node:path";
import { parseAllDocuments } from "yaml";
import { CHART, environmentOf, values } from "./chart";
import { complaintsOf } from "./kubernetes";

/**
 * What needs programs that take long to build: they are used where they are there already (on PATH, or in the cache since
 * `npm run drill kube`), and it is said loudly when they are not. Everything that needs none is in agreement.test.ts.
 */

const CACHE = join(process.env.NODELOOM_CACHE_DIR ?? join(homedir(), ".cache", "nodeloom"), "go");

const onPath = (name: string): string | undefined =>
  (process.env.PATH ?? "")
    .split(delimiter)
    .map((folder) => join(folder, name))
    .find(existsSync);

const cachedTool = (name: string): string | undefined => {
  const entries = existsSync(CACHE) ? readdirSync(CACHE).filter((entry) => entry.startsWith(`${name}-`)) : [];
  return entries.map((entry) => join(CACHE, entry, name)).find(existsSync);
};

const found = (name: string, how: string): string | undefined => {
  const path = onPath(name) ?? cachedTool(name);
  if (path === undefined) process.stderr.write(`\n  SKIPPED: the checks of the Helm chart by ${name}, which is not here (${how})\n\n`);
  return path;
};

const helm = found("helm", "npm run drill kube builds it");
const promtool = found("promtool", "Debian: prometheus");
const sets = readdirSync(join(CHART, "ci"));

interface Rendered {
  kind: string;
  metadata: { name: string; labels: Record<string, string> };
  spec: {
    template: {
      spec: {
        securityContext: Record<string, unknown>;
        containers: { env: { name: string; value?: string }[]; args: string[]; securityContext: Record<string, unknown> }[];
      };
    };
  };
}

const render = (...args: string[]): Rendered[] =>
  parseAllDocuments(execFileSync(helm!, ["template", "nodeloom", CHART, "--namespace", "test", ...args]).toString())
    .map((document) => document.toJS() as Rendered | null)
    .filter((object) => object !== null);

(helm ? describe : describe.skip)("Helm", () => {
  it.each(sets)("takes the values of %s without a complaint", (set) => {
    const output = execFileSync(helm!, ["lint", "--strict", CHART, "--values", join(CHART, "ci", set)]).toString();
    expect(output).toContain("0 chart(s) failed");
    const objects = render("--values", join(CHART, "ci", set));
    const names = objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`);
    expect(new Set(names).size).toBe(names.length);
  });

  it.each(sets)("renders %s to what Kubernetes' schemas take, without unknown members", (set) => {
    expect(render("--values", join(CHART, "ci", set)).flatMap(complaintsOf)).toEqual([]);
  });

  it("gives every process the environment that the agreement was checked with", () => {
    const deployments = render().filter(({ kind }) => kind === "Deployment");
    const enabled = Object.entries(values.services).filter(([, { enabled }]) => enabled);
    expect(deployments.length).toBe(enabled.length);
    for (const { metadata, spec } of deployments) {
      const name = metadata.labels["app.kubernetes.io/component"]!;
      const [container] = spec.template.spec.containers;
      const given = Object.fromEntries(container!.env.map((variable) => [variable.name, variable.value]));
      const expected = Object.entries(environmentOf(name)).filter(([, value]) => value !== "");
      expect(Object.keys(given).sort()).toEqual(expected.map(([variable]) => variable).sort());
      for (const [variable, value] of expected)
        if (given[variable] !== undefined) expect([variable, given[variable]]).toEqual([variable, value]);
      expect(container!.args).toEqual([values.services[name]!.main]);
    }
  });

  it.each([
    ["services.media.replicas=2", "more than one needs a bucket"],
    ["services.sandbox.enabled=true", "set settings.models.SANDBOX_URL to http://nodeloom-sandbox:8090"],
    ["services.inference.enabled=true", "set settings.models.INFERENCE_URL to http://nodeloom-inference:8091"],
    [
      "services.inference.enabled=true,settings.models.INFERENCE_URL=http://nodeloom-inference:8091",
      "add nodeloom-inference:8091 to settings.egress.PROVIDER_EGRESS_ALLOW",
    ],
    ["settings.public.PUBLIC_BASE_URL=http://example.com", "browsers keep no session without https"],
    ["services.billing.enabled=false", "which is not enabled"],
    ["settings.process.LOG_LEVEL=loud", "LOG_LEVEL"],
    ["services.billing.listens.BILLING_LISTEN=70000", "BILLING_LISTEN"],
    ["services.billing.replica=2", "replica"],
  ])("refuses %s, and says why", (value, reason) => {
    let said = "";
    try {
      execFileSync(helm!, ["template", "nodeloom", CHART, "--set", value], { stdio: "pipe" });
    } catch (error) {
      said = String((error as { stderr: Buffer }).stderr);
    }
    expect(said).toContain(reason);
  });
});

(promtool ? describe : describe.skip)("Prometheus", () => {
  it("takes the rules, and each alert fires and keeps still when it should", () => {
    expect(execFileSync(promtool!, ["check", "rules", join(CHART, "files", "alerts.yaml")]).toString()).toContain("SUCCESS");
    expect(execFileSync(promtool!, ["test", "rules", join(__dirname, "alerts.yaml")]).toString()).toContain("SUCCESS");
  });
});

describe("Kubernetes' schemas", () => {
  const port = { name: "grpc", port: 50051, targetPort: "grpc" };
  const service = { apiVersion: "v1", kind: "Service", metadata: { name: "billing" }, spec: { ports: [port] } };

  it("take what is right", () => {
    expect(complaintsOf(service)).toEqual([]);
  });

  it.each([
    ["a member that there is not", { ...service, spec: { ports: [port], clusterIp: "None" } }, "clusterIp"],
    ["a wrong type", { ...service, spec: { ports: [{ ...port, port: "50051" }] } }, "/spec/ports/0/port"],
    ["a missing member", { ...service, spec: { ports: [{ name: "grpc" }] } }, "port"],
    ["a kind that nobody checks", { ...service, kind: "Daemon" }, "without a schema"],
  ])("complain of %s", (_what, object, complaint) => {
    expect(complaintsOf(object).join()).toContain(complaint);
  });
});

it("has a value set for each way of running it", () => {
  expect(sets.sort()).toEqual(["external-tls.yaml", "locked-down.yaml", "one-machine.yaml", "three-replicas.yaml"]);
  for (const set of sets) expect(readFileSync(join(CHART, "ci", set), "utf8")).toMatch(/^# /);
});
