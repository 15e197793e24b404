/**
 * The only table of services. The launcher, the tests, the lint, the certificates and the output of `npm run generate` are based on it. To
 * add a service: docs/contribute/add-a-service.md.
 * @type {readonly import("./services.d.cts").Service[]}
 */
const SERVICES = [
  {
    name: "gateway",
    about: "HTTP API, console, documentation",
    protocol: "http",
    listens: { GATEWAY_LISTEN: 8080, ADMIN_LISTEN: 8082 },
    calls: ["identity", "workflows", "models", "billing", "usage", "executions", "triggers", "media", "notifications"],
    urls: { MEDIA_HTTP_URL: { service: "media", listen: "MEDIA_HTTP_LISTEN" } },
    database: false,
    host: "gateway",
    secrets: ["SESSION_SECRET"],
    replicas: 2,
    resources: { cpu: "250m", memory: "256Mi", limit: "512Mi" },
    autoscaling: { enabled: false, minReplicas: 2, maxReplicas: 10, cpuUtilization: 70 },
  },
  {
    name: "identity",
    about: "users, organizations, sessions, API keys, secrets, audit",
    protocol: "grpc",
    listens: { IDENTITY_LISTEN: 50051 },
    calls: [],
    database: true,
    host: "domain",
    secrets: ["API_KEY_PEPPER", "SECRETS_KEYS", "BOOTSTRAP_ADMIN_EMAIL", "BOOTSTRAP_ADMIN_PASSWORD"],
    replicas: 2,
    resources: { cpu: "100m", memory: "192Mi", limit: "384Mi" },
  },
  {
    name: "workflows",
    about: "graphs, versions, folders, templates",
    protocol: "grpc",
    listens: { WORKFLOWS_LISTEN: 50052 },
    calls: ["media"],
    database: true,
    host: "domain",
    replicas: 2,
    resources: { cpu: "50m", memory: "192Mi", limit: "384Mi" },
  },
  {
    name: "models",
    about: "registry, prices, servers at home",
    protocol: "grpc",
    listens: { MODELS_LISTEN: 50053 },
    calls: ["identity"],
    database: true,
    host: "domain",
    secrets: ["SANDBOX_API_KEY", "INFERENCE_API_KEY"],
    replicas: 2,
    internet: "named",
    providerKeys: true,
    resources: { cpu: "50m", memory: "192Mi", limit: "384Mi" },
  },
  {
    name: "billing",
    about: "accounts, holds, ledger, budgets, payments",
    protocol: "grpc",
    listens: { BILLING_LISTEN: 50054 },
    calls: [],
    database: true,
    host: "domain",
    secrets: ["STRIPE_SECRET_KEY", "STRIPE_WEBHOOK_SECRET"],
    replicas: 2,
    internet: "named",
    resources: { cpu: "100m", memory: "192Mi", limit: "384Mi" },
  },
  {
    name: "usage",
    about: "one row per run",
    protocol: "grpc",
    listens: { USAGE_LISTEN: 50055 },
    calls: [],
    database: true,
    host: "domain",
    replicas: 2,
    resources: { cpu: "50m", memory: "192Mi", limit: "384Mi" },
  },
  {
    name: "executions",
    about: "plans, runs and settles a run; batches, retention",
    protocol: "grpc",
    listens: { EXECUTIONS_LISTEN: 50056 },
    calls: ["identity", "workflows", "models", "billing", "usage", "media", "transform", "triggers", "notifications"],
    database: true,
    queue: "",
    // The executions service has Temporal's native worker, and drills kill its process to check that runs survive.
    host: "executions",
    secrets: ["SANDBOX_API_KEY", "INFERENCE_API_KEY"],
    // If a provider answers a request with a file, the request can't move to another process, so it finishes in this one.
    graceMs: 120_000,
    replicas: 2,
    internet: "any",
    providerKeys: true,
    // Files that wait until media can store them. They survive a crash of the container, not the deletion of its pod.
    data: { size: "4Gi", scratch: true },
    resources: { cpu: "500m", memory: "768Mi", limit: "1536Mi" },
    // Scales by queued runs. This needs an adapter that passes Prometheus's metrics to the autoscaler.
    autoscaling: {
      enabled: false,
      minReplicas: 2,
      maxReplicas: 20,
      podMetric: { name: "nodeloom_slots_waiting", labels: { pool: "starts" }, average: "5" },
      keda: { enabled: false, apiKey: false, targetQueueSize: "20" },
    },
  },
  {
    name: "triggers",
    about: "schedules and inbound hooks",
    protocol: "grpc",
    listens: { TRIGGERS_LISTEN: 50060 },
    calls: ["identity", "workflows", "executions"],
    database: true,
    queue: "-triggers",
    host: "executions",
    replicas: 2,
    resources: { cpu: "50m", memory: "256Mi", limit: "512Mi" },
  },
  {
    name: "media",
    about: "files, marks, provenance",
    protocol: "grpc",
    listens: { MEDIA_LISTEN: 50057, MEDIA_HTTP_LISTEN: 8081 },
    calls: ["workflows", "transform"],
    secrets: ["MEDIA_URL_KEYS", "PROVENANCE_CERTIFICATE", "PROVENANCE_KEY"],
    database: true,
    host: "domain",
    replicas: 1,
    internet: "any",
    undeclaredSecrets: ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"],
    data: { size: "20Gi" },
    resources: { cpu: "100m", memory: "256Mi", limit: "768Mi" },
  },
  {
    name: "notifications",
    about: "delivers webhooks and mail",
    protocol: "grpc",
    listens: { NOTIFICATIONS_LISTEN: 50059 },
    calls: ["identity", "billing", "executions"],
    database: true,
    queue: "-notifications",
    // That process already has Temporal's native worker.
    host: "executions",
    replicas: 2,
    internet: "any",
    resources: { cpu: "100m", memory: "256Mi", limit: "512Mi" },
  },
  {
    name: "transform",
    about: "image, video and audio operations (sharp, ffmpeg)",
    protocol: "grpc",
    listens: { TRANSFORM_LISTEN: 50058 },
    calls: ["media"],
    database: false,
    // Models and operations run in child processes, so their services are small and share one process.
    host: "sandbox",
    replicas: 1,
    // Files of operations in progress, which are deleted with the pod.
    data: { size: "10Gi", scratch: true },
    resources: { cpu: "500m", memory: "512Mi", limit: "4Gi" },
  },
  {
    name: "sandbox",
    about: "stands in for AI providers: draws files from the hash of a prompt",
    protocol: "http",
    listens: { SANDBOX_LISTEN: 8090 },
    calls: [],
    database: false,
    host: "sandbox",
    secrets: ["SANDBOX_API_KEY", "SANDBOX_CONTROL_KEY"],
    replicas: 1,
    single: "its jobs are known to one process",
    enabled: false,
    data: { size: "1Gi" },
    resources: { cpu: "50m", memory: "128Mi", limit: "256Mi" },
  },
  {
    name: "inference",
    about: "small models on this machine",
    protocol: "http",
    listens: { INFERENCE_LISTEN: 8091 },
    calls: [],
    urls: { MEDIA_HTTP_URL: { service: "media", listen: "MEDIA_HTTP_LISTEN" } },
    database: false,
    host: "sandbox",
    secrets: ["INFERENCE_API_KEY"],
    replicas: 1,
    single: "its jobs are on its volume",
    enabled: false,
    internet: "any",
    data: { size: "4Gi" },
    // Two models at once, each within its own limit.
    resources: { cpu: "500m", memory: "512Mi", limit: "4Gi" },
  },
];

const LIBRARIES = ["kernel", "platform", "providers"];

/** @param {string} name */
const serviceOf = (name) => {
  const serviceRow = SERVICES.find((service) => service.name === name);
  if (serviceRow === undefined) throw new Error(`there is no service called ${name}`);
  return serviceRow;
};

/** @param {import("./services.d.cts").Service} service */
const folderOf = ({ name }) => (name === "gateway" ? "gateway" : `services/${name}`);

module.exports = { SERVICES, LIBRARIES, serviceOf, folderOf };
