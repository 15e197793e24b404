import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runInNewContext } from "node:vm";
import { loadConfig, splitHostPort } from "@nodeloom/platform";
import { parse } from "yaml";
import {
  IMAGE,
  interpolate,
  loadCompose,
  ownServices,
  readComposeText,
  readEnvFile,
  references,
  ROOT,
  type ComposeFile,
  type ComposeService,
} from "./compose-file";
import { SERVICES } from "../../../services/migrate/src/databases";
import { DEFINITIONS } from "./definitions";

const EXAMPLE = join(ROOT, "deploy", "docker", "example.env");
/** Ports of third-party servers, from the documentation of their images. */
const SERVER_PORTS: Readonly<Record<string, number>> = { mongo: 27017, redis: 6379, postgres: 5432, temporal: 7233, "temporal-ui": 8233 };
const LOOPBACK_PORT = /^127\.0\.0\.1:(\d+):(\d+)$/;

const folder = mkdtempSync(join(tmpdir(), "nodeloom-compose-"));
afterAll(() => rmSync(folder, { recursive: true }));

const makeEnv = (): Record<string, string> => {
  const file = join(folder, ".env");
  execFileSync("sh", [join(ROOT, "deploy", "docker", "make-env.sh"), file], { stdio: "pipe" });
  return readEnvFile(file);
};
const settings = makeEnv();
const compose: ComposeFile = loadCompose(settings);
/** Runs once before the services. */
const MIGRATE = "migrate";
const own = ownServices(compose).filter(([name]) => name !== MIGRATE);
const ownNames = own.map(([name]) => name);

/** Optional services in a file of their own. */
const local = loadCompose(settings, join("deploy", "docker", "local-models.yml"));
const localNames = Object.keys(local.services).filter((name) => compose.services[name] === undefined);

const portOf = (address: string): number => splitHostPort(address).port;
const listens = ({ environment }: ComposeService): [string, number][] =>
  Object.entries(environment)
    // The operations port is only for health checks and Prometheus.
    .filter(([name]) => name.endsWith("_LISTEN") && name !== "OPS_LISTEN")
    .map(([name, value]) => [name, portOf(value)]);

/** Variables that name another server with host and port. */
const dialled = ({ environment }: ComposeService): { variable: string; host: string; port: number }[] =>
  Object.entries(environment)
    .filter(
      ([name]) =>
        name !== "PUBLIC_BASE_URL" &&
        name !== "ADMIN_BASE_URL" &&
        name !== "OTEL_EXPORTER_OTLP_ENDPOINT" &&
        // Optional third-party servers.
        name !== "SMTP_URL" &&
        name !== "MODERATION_URL" &&
        /_(ADDRESS|URL|URI)$/.test(name),
    )
    .map(([variable, value]) => {
      const { hostname, port } = new URL(value.includes("://") ? value : `tcp://${value}`);
      return { variable, host: hostname, port: Number(port) };
    });

/** Secrets named by registry entries; services that call providers read them under these names. */
const providerSecrets = (): Set<string> => {
  const registry = join(ROOT, "services", "models", "registry");
  const entries = readdirSync(registry).map((file) => JSON.parse(readFileSync(join(registry, file), "utf8")) as ProviderEntry);
  return new Set(entries.flatMap(({ provider }) => (provider.auth?.secretEnv ? [provider.auth.secretEnv] : [])));
};
interface ProviderEntry {
  provider: { auth?: { secretEnv?: string } };
}
/** Each service with data has its own user of the database server. */
const databaseUsers = ownNames.filter((name) => "MONGODB_URI" in DEFINITIONS[name]!.config.shape);
const READS_PROVIDER_SECRETS = new Set(["executions", "models"]);
/** Variables that AWS's library itself reads. */
const AWS_CREDENTIALS = ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"];

describe("the settings", () => {
  it("are complete in the example: it has every variable of the compose file, and no other", () => {
    const used = new Set(references(readComposeText()).map(({ name }) => name));
    expect(Object.keys(readEnvFile(EXAMPLE, { commented: true })).sort()).toEqual([...used].sort());
  });

  it("reject a start without each secret, and describe the secret", () => {
    const text = readComposeText();
    const required = [...new Set(references(text).flatMap(({ name, isRequired }) => (isRequired ? [name] : [])))];
    expect(required.sort()).toEqual(
      [
        ...["API_KEY_PEPPER", "BOOTSTRAP_ADMIN_EMAIL", "BOOTSTRAP_ADMIN_PASSWORD", "MEDIA_URL_KEYS", "MONGO_PASSWORD"],
        "POSTGRES_PASSWORD",
        ...["REDIS_PASSWORD", "SANDBOX_API_KEY", "SESSION_SECRET", ...databaseUsers.map((name) => `MONGO_${name.toUpperCase()}_PASSWORD`)],
      ].sort(),
    );
    for (const name of required) {
      expect(() => interpolate(text, { ...settings, [name]: "" })).toThrow(new RegExp(`${name} is missing a value: set it to .{10}`));
    }
  });

  it("have no secret in the example, and different secrets in each new .env", () => {
    const secrets = Object.entries(readEnvFile(EXAMPLE))
      .filter(([, value]) => value === "")
      .map(([name]) => settings[name]!);
    expect(secrets.length).toBeGreaterThanOrEqual(7);
    expect(new Set(secrets).size).toBe(secrets.length);
    for (const secret of secrets) expect(secret).toMatch(/^[0-9a-f]{64}$/);
  });

  it("are never overwritten by make-env.sh", () => {
    expect(() => makeEnv()).toThrow();
  });
});

describe("the platform's services", () => {
  it("include every service under the name in the code", () => {
    const workspaces = ["gateway", ...readdirSync(join(ROOT, "services")).map((name) => `services/${name}`)];
    const deployable = workspaces.filter((workspace) => existsSync(join(ROOT, workspace, "src", "main.ts")));
    expect([...ownNames, ...localNames, MIGRATE].sort()).toEqual(deployable.map((workspace) => workspace.replace("services/", "")).sort());
    expect([...ownNames, ...localNames].sort()).toEqual(Object.keys(DEFINITIONS).sort());
  });

  it("can run with local models, whose variables they read", () => {
    expect(localNames).toEqual(["inference"]);
    for (const [name, { environment }] of Object.entries(local.services)) {
      const readVariables = new Set([
        ...Object.keys(DEFINITIONS[name]!.config.shape),
        ...(READS_PROVIDER_SECRETS.has(name) ? providerSecrets() : []),
      ]);
      expect(Object.keys(environment).filter((variable) => !readVariables.has(variable))).toEqual([]);
      expect(() => loadConfig(DEFINITIONS[name]!.config, { ...compose.services[name]?.environment, ...environment })).not.toThrow();
    }
  });

  it.each(own)("%s runs the built main of its own workspace", (name, { command }) => {
    const workspace = name === "gateway" ? "gateway" : `services/${name}`;
    expect(command).toEqual([`${workspace}/dist/main.js`]);
    expect(DEFINITIONS[name]!.name).toBe(name);
  });

  it.each(own)("%s gets only variables that it reads", (name, { environment }) => {
    const readVariables = new Set(Object.keys(DEFINITIONS[name]!.config.shape));
    if (READS_PROVIDER_SECRETS.has(name)) for (const secret of providerSecrets()) readVariables.add(secret);
    if (name === "media") for (const variable of AWS_CREDENTIALS) readVariables.add(variable);
    expect(Object.keys(environment).filter((variable) => !readVariables.has(variable))).toEqual([]);
  });

  it.each(own)("%s starts with these variables", (name, { environment }) => {
    const config = loadConfig(DEFINITIONS[name]!.config, environment) as Record<string, unknown>;
    for (const variable of Object.keys(DEFINITIONS[name]!.config.shape).filter((key) => /_(LISTEN|ADDRESS)$/.test(key))) {
      // A default address is loopback, which is wrong in a container.
      expect({ variable, value: config[variable] }).toEqual({ variable, value: environment[variable] });
    }
  });

  it.each(own)("%s listens on every interface", (_name, service) => {
    expect(listens(service)).not.toEqual([]);
    for (const [variable] of listens(service)) expect(splitHostPort(service.environment[variable]!).host).toBe("0.0.0.0");
  });

  it.each(own)("%s calls servers that listen at the address, over a shared network", (_name, service) => {
    for (const { variable, host, port } of dialled(service)) {
      const callee = compose.services[host];
      const ports = callee?.image === IMAGE ? listens(callee).map(([, listening]) => listening) : [SERVER_PORTS[host]];
      expect({ variable, ports }).toEqual({ variable, ports: expect.arrayContaining([port]) as number[] });
      expect({ variable, shared: callee!.networks!.some((network) => service.networks!.includes(network)) }).toEqual({
        variable,
        shared: true,
      });
    }
  });

  it.each(own)("%s is health-checked on its operations port", (name, { healthcheck, environment }) => {
    expect(healthcheck!.test).toEqual(["CMD", "node", "deploy/docker/health.mjs"]);
    const { OPS_LISTEN } = loadConfig(DEFINITIONS[name]!.config, environment) as { OPS_LISTEN: string };
    expect(OPS_LISTEN).toBe("0.0.0.0:9090");
    expect(listens({ environment } as ComposeService).map(([, port]) => port)).not.toContain(9090);
  });

  it.each(own)("%s has more time to stop than its longest stop takes", (name, { environment, stop_grace_period: period }) => {
    const { SHUTDOWN_GRACE_MS: graceMs } = loadConfig(DEFINITIONS[name]!.config, environment) as { SHUTDOWN_GRACE_MS: number };
    expect(Number(/^(\d+)s$/.exec(period!)![1]) * 1_000).toBeGreaterThan(graceMs);
  });

  it.each(own.filter(([name]) => name !== "sandbox"))("%s has certificates of its own for mutual TLS", (name, { environment, volumes }) => {
    expect(environment).toMatchObject({
      TLS_CA_FILE: "/certificates/authority.pem",
      TLS_CERT_FILE: `/certificates/${name}/certificate.pem`,
      TLS_KEY_FILE: `/certificates/${name}/key.pem`,
    });
    expect(volumes).toContain("certificates:/certificates:ro");
    const { entrypoint, command } = compose.services.certs!;
    const [authority, certificates, ...names] = command!;
    expect([...entrypoint!, authority, certificates]).toEqual(["deploy/docker/make-certs.sh", "/authority", "/certificates"]);
    expect(names).toContain(name);
  });

  it("can call the sandbox as a provider, and no internal address for users", () => {
    const callers = own.filter(([name]) => "PROVIDER_EGRESS_ALLOW" in DEFINITIONS[name]!.config.shape);
    expect(callers.map(([name]) => name).sort()).toEqual(["executions", "media"]);
    for (const [name, { environment, networks }] of callers) {
      const sandbox = `sandbox:${portOf(compose.services.sandbox!.environment.SANDBOX_LISTEN!)}`;
      expect(loadConfig(DEFINITIONS[name]!.config, environment)).toMatchObject({ PROVIDER_EGRESS_ALLOW: [sandbox], USER_EGRESS_ALLOW: [] });
      expect(networks).toContain("outside");
    }
  });

  it("keep their data in volumes", () => {
    for (const variable of ["MEDIA_DIR", "SANDBOX_DATA_DIR"]) {
      const [, service] = own.find(([, { environment }]) => environment[variable] !== undefined)!;
      expect(service.volumes!.some((volume) => volume.endsWith(`:${service.environment[variable]}`))).toBe(true);
    }
  });
});

it("prepares every database before its service starts, with the required variables", () => {
  const { command, environment, restart, networks } = compose.services[MIGRATE]!;
  expect([command, restart]).toEqual([["services/migrate"], "on-failure:5"]);
  const keepers = own.filter(([name]) => DEFINITIONS[name]!.database !== undefined);
  expect(keepers.map(([name]) => name).sort()).toEqual([...SERVICES].sort());
  for (const [name, { depends_on: dependencies, networks: others }] of keepers) {
    expect(dependencies![MIGRATE]).toEqual({ condition: "service_completed_successfully" });
    const uri = environment[`${name.toUpperCase()}_MONGODB_URI`];
    expect(uri).toBe(compose.services[name]!.environment.MONGODB_URI);
    expect(() => loadConfig(DEFINITIONS[name]!.database!.config, { ...environment, MONGODB_URI: uri })).not.toThrow();
    expect(networks!.some((network) => others!.includes(network))).toBe(true);
  }
});

describe("the compose file", () => {
  const all = Object.entries(compose.services);

  it("publishes only the gateway, on loopback, for clients and for administrators", () => {
    const published = all.filter(([, { ports }]) => ports !== undefined);
    expect(published.map(([name]) => name)).toEqual(["gateway"]);
    const { ports, environment, networks } = compose.services.gateway!;
    const inside = ports!.map((port) => Number(LOOPBACK_PORT.exec(port)![2]));
    expect(inside).toEqual([environment.GATEWAY_LISTEN!, environment.ADMIN_LISTEN!].map(portOf));
    // A port can't be reached if the container is only on internal networks.
    expect(networks!.some((network) => !compose.networks[network]!.internal)).toBe(true);
  });

  it("serves Temporal's UI on the console's host, under the path that the gateway proxies", () => {
    const { TEMPORAL_UI_URL, ADMIN_BASE_URL, PUBLIC_BASE_URL } = compose.services.gateway!.environment;
    const { TEMPORAL_UI_PUBLIC_PATH, TEMPORAL_UI_PORT } = compose.services["temporal-ui"]!.environment;
    expect(new URL(TEMPORAL_UI_URL!)).toMatchObject({ pathname: TEMPORAL_UI_PUBLIC_PATH, port: TEMPORAL_UI_PORT });
    expect(new URL(ADMIN_BASE_URL!).hostname).toBe(new URL(PUBLIC_BASE_URL!).hostname);
  });

  it("gives clients the published address", () => {
    const { port } = new URL(compose.services.gateway!.environment.PUBLIC_BASE_URL!);
    expect(LOOPBACK_PORT.exec(compose.services.gateway!.ports![0]!)![1]).toBe(port);
  });

  it("gives internet access only to services that call providers, model servers or Stripe, or that receive outside requests", () => {
    const outside = all.filter(([, { networks }]) => networks?.some((network) => !compose.networks[network]!.internal));
    expect(outside.map(([name]) => name).sort()).toEqual(["billing", "executions", "gateway", "media", "models", "notifications"]);
  });

  it.each(all)("%s waits only for conditions that can become true", (_name, { depends_on: dependencies = {} }) => {
    for (const [target, { condition }] of Object.entries(dependencies)) {
      const callee = compose.services[target]!;
      if (condition === "service_healthy") expect(callee.healthcheck).toBeDefined();
      if (condition === "service_completed_successfully") expect(callee.restart).toMatch(/^(no|on-failure.*)$/);
      expect(condition).not.toBe("service_started");
    }
  });

  it("starts the gateway after every service that it calls", () => {
    // Temporal's UI is called only when an administrator opens it.
    const called = dialled(compose.services.gateway!).flatMap(({ host }) => (host === "temporal-ui" ? [] : [host]));
    expect(Object.keys(compose.services.gateway!.depends_on!)).toEqual(expect.arrayContaining(called));
  });

  it.each(all)("%s mounts declared volumes and files that exist", (_name, { volumes = [] }) => {
    for (const [source] of volumes.map((volume) => volume.split(":"))) {
      if (source!.startsWith("./")) expect(existsSync(join(ROOT, source!))).toBe(true);
      else expect(Object.keys(compose.volumes)).toContain(source);
    }
  });

  it.each(all)("%s pins its image, and only one service builds Nodeloom's image", (name, { image, build, networks = [] }) => {
    expect(image).toMatch(/:(local|\d+\.\d+(\.\d+)?)$/);
    expect(build !== undefined).toBe(name === "certs");
    for (const network of networks) expect(Object.keys(compose.networks)).toContain(network);
  });

  it("uses one MongoDB replica set, under the name that clients use", () => {
    const start = readFileSync(join(ROOT, "deploy", "docker", "mongo", "start.sh"), "utf8");
    const init = readFileSync(join(ROOT, "deploy", "docker", "mongo", "replica-set.js"), "utf8");
    for (const [, { environment }] of own.filter(([, service]) => service.environment.MONGODB_URI)) {
      const { searchParams, host } = new URL(environment.MONGODB_URI!);
      expect(start).toContain(`--replSet ${searchParams.get("replicaSet")} `);
      expect(init).toContain(`_id: "${searchParams.get("replicaSet")}", members: [{ _id: 0, host: "${host}" }]`);
    }
  });

  it("gives each service a MongoDB user that can access only the service's database", () => {
    const { environment, command, volumes } = compose.services["mongo-init"]!;
    const requests: unknown[] = [];
    const administrator = {
      getUser: (user: string) => (user === "billing" ? { user } : null),
      createUser: (user: object) => requests.push(user),
      updateUser: (user: string, change: object) => requests.push({ user, ...change }),
    };
    const db = { getSiblingDB: (name: string) => (name === "admin" ? administrator : undefined) };
    const source = readFileSync(join(ROOT, "deploy", "docker", "mongo", "users.js"), "utf8");
    runInNewContext(source, { db, process: { env: environment }, print: () => undefined });
    expect(command!.join(" ")).toContain(" /replica-set.js /users.js");
    expect(volumes).toContain("./deploy/docker/mongo/users.js:/users.js:ro");
    const expected = databaseUsers.map((name) => {
      const { MONGODB_URI: uri, ...rest } = compose.services[name]!.environment;
      const { username, password, searchParams } = new URL(uri!);
      expect([username, searchParams.get("authSource"), rest.MONGODB_DATABASE_PREFIX]).toEqual([name, "admin", undefined]);
      expect(Object.keys(compose.services[name]!.depends_on!)).toContain("migrate");
      expect(Object.keys(compose.services.migrate!.depends_on!)).toContain("mongo-init");
      return { user: name, pwd: password, roles: [{ role: "readWrite", db: `nodeloom_${name}` }] };
    });
    expect(requests).toEqual(expect.arrayContaining(expected));
    expect(requests.length).toBe(expected.length);
    expect(new Set(expected.map(({ pwd }) => pwd)).size).toBe(expected.length);
  });

  it.each(all)("%s has limits for its memory and its processes", (_name, service) => {
    expect(service.mem_limit).toMatch(/^\d+[mg]$/);
    expect(service.pids_limit).toBeGreaterThan(0);
  });

  it("gives Temporal enough shards for its lifetime, and documents the reason", () => {
    expect(Number(compose.services.temporal!.environment.NUM_HISTORY_SHARDS)).toBeGreaterThanOrEqual(512);
    expect(readComposeText()).toMatch(/# Fixed by the first start for ever\. .*\n\s+NUM_HISTORY_SHARDS/);
  });

  it("gives Temporal a YAML settings file at the expected path, and creates its namespace", () => {
    const { temporal, "temporal-init": init, executions } = compose.services;
    expect(temporal!.volumes).toContain(
      `./deploy/docker/temporal/dynamic-config.yaml:${temporal!.environment.DYNAMIC_CONFIG_FILE_PATH}:ro`,
    );
    const dynamic = parse(readFileSync(join(ROOT, "deploy/docker/temporal/dynamic-config.yaml"), "utf8")) as Record<
      string,
      { value: number | boolean }[]
    >;
    for (const [name, values] of Object.entries(dynamic)) {
      expect(values).toEqual([{ value: expect.any(name === "matching.enableFairness" ? Boolean : Number) as unknown }]);
    }
    expect(init!.environment.TEMPORAL_NAMESPACE).toBe(executions!.environment.TEMPORAL_NAMESPACE);
  });
});
