import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv } from "ajv";
import { loadConfig } from "@nodeloom/platform";
import { SERVICES } from "../../../services/migrate/src/databases";
import { DEFINITIONS } from "../../docker/test/definitions";
import { CHART, environmentOf, readYaml, ROOT, usesTls, values } from "./chart";
import { descriptions, queries, rules } from "./queries";

/** Compares the chart with the code, without a cluster and without Helm. */

const names = Object.keys(values.services);
/** Variables that the platform's own code reads in every service. */
const TLS = ["TLS_CERT_FILE", "TLS_KEY_FILE", "TLS_CA_FILE"];

describe.each(names)("%s", (name) => {
  const service = values.services[name]!;
  const definition = DEFINITIONS[name]!;
  const declared = Object.keys(definition.config.shape);
  const environment = environmentOf(name);

  it("gets every variable that it reads, and no other", () => {
    const sure = usesTls(service) ? [] : TLS;
    expect([...Object.keys(environment), ...sure].sort()).toEqual(expect.arrayContaining([...declared].sort()));
    // Variables that libraries read under their own names.
    const others = Object.keys(environment).filter(
      (variable) =>
        !declared.includes(variable) &&
        !/^(AWS_|SANDBOX_API_KEY$|SANDBOX_CONTROL_KEY$|INFERENCE_API_KEY$|TEMPORAL_|PUBLIC_BASE_URL$)/.test(variable),
    );
    expect(others).toEqual([]);
  });

  it("starts with these variables", () => {
    expect(() => loadConfig(definition.config, environment)).not.toThrow();
  });

  it("listens on a separate port for each server, and on another for probes", () => {
    const listens = declared.filter((variable) => variable.endsWith("_LISTEN") && variable !== "OPS_LISTEN");
    expect(Object.keys(service.listens).sort()).toEqual(listens.sort());
    const ports = [...Object.values(service.listens), Number(values.settings.process.OPS_LISTEN!.split(":").at(-1))];
    expect(new Set(ports).size).toBe(ports.length);
  });

  it("runs a file that the image contains", () => {
    expect(existsSync(join(ROOT, service.main.replace("/dist/", "/src/").replace(/\.js$/, ".ts")))).toBe(true);
  });
});

it("migrates every database with the database's own user, and Temporal", () => {
  const template = readFileSync(join(CHART, "templates", "migrate.yaml"), "utf8");
  const withDatabase = names.filter((name) => values.services[name]!.secrets.includes("mongodb"));
  expect(withDatabase.sort()).toEqual([...SERVICES].sort());
  const variables = new Set([
    "MONGODB_URI",
    ...Object.keys({ ...values.settings.mongodb, ...values.settings.temporal }),
    ...[...template.matchAll(/- name: ([A-Z_]+)$/gm)].map(([, variable]) => variable),
  ]);
  const readVariables = withDatabase.flatMap((name) => Object.keys(DEFINITIONS[name]!.database!.config.shape));
  expect(readVariables.filter((variable) => !variables.has(variable))).toEqual([]);
  const page = readFileSync(join(ROOT, "docs", "operations", "kubernetes.md"), "utf8");
  const [, secret] = /create secret generic nodeloom-mongodb ([^]*?)\n +kubectl/.exec(page)!;
  expect([...secret!.matchAll(/--from-literal=(\w+)=/g)].map(([, name]) => name).sort()).toEqual([...SERVICES].sort());
});

it("kills no process within its own grace period", () => {
  const timesOf = (name: string): Record<string, number> =>
    loadConfig(DEFINITIONS[name]!.config, environmentOf(name)) as Record<string, number>;
  const { DRAIN_MS, SHUTDOWN_GRACE_MS } = timesOf("billing");
  const template = readFileSync(join(CHART, "templates", "deployments.yaml"), "utf8");
  expect(template).toContain("add $.Values.pods.preStopSeconds (div (int $process.DRAIN_MS) 1000) (div (int $graceMs) 1000) 5");
  expect(template).toContain("$graceMs := $service.shutdownGraceMs | default $process.SHUTDOWN_GRACE_MS");
  expect(timesOf("executions").SHUTDOWN_GRACE_MS).toBe(Number(values.services.executions!.shutdownGraceMs));
  expect(DRAIN_MS! + SHUTDOWN_GRACE_MS!).toBeLessThanOrEqual(60_000);
});

it("probes a path that the operations port serves", () => {
  const template = readFileSync(join(CHART, "templates", "deployments.yaml"), "utf8");
  const ops = readFileSync(join(ROOT, "services", "platform", "src", "process", "ops.ts"), "utf8");
  const probed = [...template.matchAll(/httpGet: \{ path: (\S+), port: ops \}/g)].map(([, path]) => path!);
  expect(probed).toEqual(["/readyz", "/livez", "/readyz"]);
  for (const path of [...probed, "/metrics"]) expect(ops).toContain(`"${path}"`);
});

describe("the values' schema", () => {
  const isObject = (value: unknown): value is Record<string, unknown> =>
    typeof value === "object" && value !== null && !Array.isArray(value);
  /** Merges values in the same way as Helm. */
  const merged = (under: unknown, over: unknown): unknown => {
    if (!isObject(under) || !isObject(over)) return over;
    return { ...under, ...Object.fromEntries(Object.entries(over).map(([name, value]) => [name, merged(under[name], value)])) };
  };
  const validate = new Ajv({ strict: false, allErrors: true }).compile(
    JSON.parse(readFileSync(join(CHART, "values.schema.json"), "utf8")) as object,
  );
  /** Paths that the schema rejects. */
  const complaintsOf = (overrides: unknown): string[] =>
    validate(merged(values, overrides))
      ? []
      : validate.errors!.map(({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}`);
  const sets = ["values.yaml", ...readdirSync(join(CHART, "ci")).map((set) => join("ci", set))];

  it.each(sets)("accepts every path of %s", (set) => {
    expect(complaintsOf(readYaml(set))).toEqual([]);
  });

  it.each(names)("accepts the members of %s for every service, at every depth", (name) => {
    for (const other of names) expect(complaintsOf({ services: { [other]: values.services[name] } })).toEqual([]);
  });

  it.each(["services.billing.replica", "services.billing.data.scrach", "settings.public.PUBLIC_URL", "image.localModels.tags"])(
    "rejects %s, which isn't a value",
    (path) => {
      const overrides = path.split(".").reduceRight<unknown>((value, name) => ({ [name]: value }), true);
      expect(complaintsOf(overrides).join()).toContain(`"additionalProperty":"${path.split(".").at(-1)}"`);
    },
  );
});

it("has a dashboard that names only existing alerts", () => {
  const alertNames = descriptions.flatMap((text) => text.match(/\bNodeloom[A-Z]\w+/g) ?? []);
  expect(alertNames.length).toBeGreaterThan(5);
  expect(rules.map(({ alert }) => alert)).toEqual(expect.arrayContaining(alertNames));
});

it("sends Prometheus only queries of a valid grammar", async () => {
  const { parser } = await import("@prometheus-io/lezer-promql");
  /** Replaces Grafana's variables by durations. */
  const wrongIn = (query: string): string[] => {
    const wrong: string[] = [];
    const expr = query.replaceAll(/\$__\w+/g, "5m");
    parser.parse(expr).iterate({
      enter: ({ type, from, to }) => {
        if (type.isError) wrong.push(`${expr}: ${from}-${to}`);
      },
    });
    return wrong;
  };
  expect(wrongIn("sum(rate(x[5m]) by (le)")).not.toEqual([]);
  expect(queries.flatMap(wrongIn)).toEqual([]);
});

describe("alerts", () => {
  const alerts = rules.filter(({ alert }) => alert !== undefined);

  it("notice every service that is silent or missing", () => {
    const exprOf = (name: string): string => alerts.find(({ alert }) => alert === name)!.expr;
    const [, silent] = /component=~"([^"]+)"/.exec(exprOf("NodeloomProcessDown"))!;
    expect(silent!.split("|").sort()).toEqual([...names].sort());
    const missing = [...exprOf("NodeloomServiceMissing").matchAll(/absent\(up\{component="(\w+)"\}\)/g)].map(([, name]) => name!);
    expect(missing.sort()).toEqual([...names].sort());
  });

  it("are the alerts in the troubleshooting table, which names no other", () => {
    const runbooks = readFileSync(join(ROOT, "docs", "operations", "runbooks.md"), "utf8");
    const [, table] = /^## What fails, and which alert fires\n([^]*?)^## /m.exec(runbooks)!;
    const alertNames = [...table!.matchAll(/\[(Nodeloom\w+)\]/g)].map(([, name]) => name!);
    expect([...new Set(alertNames)].sort()).toEqual(alerts.map(({ alert }) => alert!).sort());
  });

  it("have a runbook each, and tests for firing and not firing", () => {
    const runbooks = readFileSync(join(ROOT, "docs", "operations", "runbooks.md"), "utf8");
    const tests = readFileSync(join(__dirname, "alerts.yaml"), "utf8");
    for (const { alert, annotations, labels } of alerts) {
      expect(annotations?.runbook).toBe(`docs/operations/runbooks.md#${alert!.toLowerCase()}`);
      expect(runbooks).toContain(`## ${alert}\n`);
      expect(["page", "ticket"]).toContain(labels?.severity);
      expect(tests).toContain(`name: ${alert} fires`);
      expect(tests).toMatch(new RegExp(`name: ["']?${alert} does not`));
    }
  });
});
