/** Panels of the chart's dashboard. */

/**
 * @typedef {object} Panel
 * @property {string} title
 * @property {string} about description, shown when the pointer is on the title
 * @property {"reqps" | "percentunit" | "s" | "short" | "bytes"} unit name in Grafana
 * @property {Record<string, string>} queries queries by the names of their lines
 * @property {number} [limit] value of an objective or an alert
 * @property {number} [decimals]
 */

const WINDOW = "5m";
/** @param {string} metric */
const rate = (metric) => `rate(${metric}[${WINDOW}])`;
/** @param {number} share @param {string} metric @param {string} [by] */
const quantile = (share, metric, by) => `histogram_quantile(${share}, sum by (le${by ? `, ${by}` : ""}) (${rate(`${metric}_bucket`)}))`;
/** Rate per minute, which is easier to read for counts. @param {string} metric @param {string} by */
const perMinute = (metric, by) => `sum by (${by}) (${rate(metric)}) * 60`;
/** `billing` from `nodeloom.billing.v1.BillingService`. @param {string} query */
const byShortService = (query) => `label_replace(${query}, "service", "$1", "service", "nodeloom\\\\.(\\\\w+)\\\\..*")`;
/** Share of one metric in another. Without data of the first, the share is 0. @param {string} some @param {string} all */
const share = (some, all) => `(sum(${rate(some)}) or vector(0)) / sum(${rate(all)})`;

const SUBMITTED = 'nodeloom_http_server_duration_bucket{method="POST",route=~".*/run",status="202"}';
const REST = 'nodeloom_http_server_duration_bucket{route!~".*/(run|events)"}';
const FAILED_BY_US = 'nodeloom_runs_total{outcome="failed",fault="ours"}';

/** Panels by row. @type {Record<string, readonly Panel[]>} */
export const ROWS = {
  "What clients see": [
    {
      title: "Requests by route",
      about: "Answers of the API a second.",
      unit: "reqps",
      queries: { "{{route}}": `sum by (route) (${rate("nodeloom_http_server_duration_count")})` },
    },
    {
      title: "Answers that are 5xx",
      about: "Of all answers. The objective is 0.1 % over a month; the line is where somebody is woken (NodeloomApiErrorsFast).",
      unit: "percentunit",
      queries: { "5xx": share('nodeloom_http_server_duration_count{status=~"5.."}', "nodeloom_http_server_duration_count") },
      limit: 0.0144,
    },
    {
      title: "Time of a request",
      about: "Without event streams and starts of runs, which may take as long as the run.",
      unit: "s",
      queries: {
        median: `histogram_quantile(0.5, sum by (le) (${rate(REST)}))`,
        "slowest of 100": `histogram_quantile(0.99, sum by (le) (${rate(REST)}))`,
      },
    },
    {
      title: "Asynchronous runs: time until they are accepted",
      about: "99 of 100 within half a second is the objective (NodeloomSubmitSlow).",
      unit: "s",
      queries: {
        median: `histogram_quantile(0.5, sum by (le) (${rate(SUBMITTED)}))`,
        "slowest of 100": `histogram_quantile(0.99, sum by (le) (${rate(SUBMITTED)}))`,
      },
      limit: 0.5,
    },
    {
      title: "Webhooks: from a run's end to the first attempt",
      about: "99 of 100 within a minute is the objective (NodeloomWebhooksLate).",
      unit: "s",
      queries: {
        median: quantile(0.5, "nodeloom_webhook_first_attempt_age"),
        "slowest of 100": quantile(0.99, "nodeloom_webhook_first_attempt_age"),
      },
      limit: 60,
    },
    {
      title: "Webhooks that ended, a minute",
      about: "Delivered, given up after a day of attempts, or disabled because their receiver is gone.",
      unit: "short",
      queries: { "{{outcome}}": perMinute("nodeloom_webhook_deliveries_total", "outcome") },
    },
  ],
  Runs: [
    {
      title: "Runs that ended, a minute",
      about: "Refused runs were never begun: their plan or their credits did not allow them.",
      unit: "short",
      queries: { "{{outcome}}": perMinute("nodeloom_runs_total", "outcome") },
    },
    {
      title: "Failed runs by code, a minute",
      about: "The codes are those of the API's errors.",
      unit: "short",
      queries: { "{{code}}": perMinute('nodeloom_runs_total{outcome="failed"}', "code") },
    },
    {
      title: "Runs that fail by a fault of the platform",
      about: "Of all runs. The objective is 0.5 % over a month; the line is where somebody is woken (NodeloomRunsFailByUs).",
      unit: "percentunit",
      queries: { "by us": share(FAILED_BY_US, "nodeloom_runs_total") },
      limit: 0.03,
    },
    {
      title: "Time of a run",
      about: "From the request to the end, waiting and providers included.",
      unit: "s",
      queries: {
        "{{target}}, median": quantile(0.5, "nodeloom_run_duration", "target"),
        "{{target}}, slowest of 20": quantile(0.95, "nodeloom_run_duration", "target"),
      },
    },
    {
      title: "Credits that move, a minute",
      about: "Hold less capture and release is what stays held.",
      unit: "short",
      queries: { "{{movement}}": perMinute("nodeloom_credits_total", "movement") },
    },
    {
      title: "Work that waits for a place",
      about:
        "Runs that are being begun, files that are being stored, calls of providers with a bound. From 20 on more replicas are needed (NodeloomRunsWait).",
      unit: "short",
      queries: { "{{pool}}": "sum by (pool) (nodeloom_slots_waiting)" },
      limit: 20,
      decimals: 0,
    },
  ],
  Providers: [
    {
      title: "Providers: time of a request",
      about: "19 of 20 requests, polls included, took less.",
      unit: "s",
      queries: { "{{provider}}": quantile(0.95, "nodeloom_provider_request_duration", "provider") },
    },
    {
      title: "Providers: outcomes",
      about: "Requests a second, by the class of their answer.",
      unit: "reqps",
      queries: { "{{provider}} {{outcome}}": `sum by (provider, outcome) (${rate("nodeloom_provider_request_duration_count")})` },
    },
    {
      title: "Providers left alone",
      about: "1 while a provider is not called because it is away (NodeloomProviderAway).",
      unit: "short",
      queries: { "{{provider}}": "max by (provider) (nodeloom_provider_breaker_open)" },
      decimals: 0,
    },
    {
      title: "Jobs that are followed",
      about: "At providers, by polling.",
      unit: "short",
      queries: { jobs: "sum(nodeloom_jobs_followed)" },
      decimals: 0,
    },
    {
      title: "How late jobs are polled",
      about: "Above 5 s executions follows more jobs than it can (NodeloomPollsLate).",
      unit: "s",
      queries: { "slowest of 20": quantile(0.95, "nodeloom_poll_lag") },
      limit: 5,
    },
    {
      title: "Places taken",
      about: "Of executions: runs that are being begun, files that are being stored, calls of providers with a bound.",
      unit: "short",
      queries: { "{{pool}}": "sum by (pool) (nodeloom_slots_in_use)" },
      decimals: 0,
    },
  ],
  "Services and Temporal": [
    {
      title: "Calls between services",
      about: "A second, by who is called.",
      unit: "reqps",
      queries: { "{{service}}": byShortService(`sum by (service) (${rate("nodeloom_grpc_server_duration_count")})`) },
    },
    {
      title: "Calls that fail",
      about: "Because what is behind the service is away, or by a fault of the service (NodeloomCallsUnavailable).",
      unit: "reqps",
      queries: {
        "{{service}} {{outcome}}": byShortService(
          `sum by (service, outcome) (${rate('nodeloom_grpc_server_duration_count{outcome=~"unavailable|internal"}')})`,
        ),
      },
    },
    {
      title: "Time of a call, slowest of 100",
      about: "Of a service, its database included; executions answers a synchronous run when that is over.",
      unit: "s",
      queries: { "{{service}}": byShortService(quantile(0.99, "nodeloom_grpc_server_duration", "service")) },
    },
    {
      title: "Temporal: how long tasks wait for a worker, slowest of 20",
      about: "Above 1 s every step of every run is that much later (NodeloomTasksWait).",
      unit: "s",
      queries: {
        "workflow tasks": quantile(0.95, "temporal_workflow_task_schedule_to_start_latency_seconds"),
        activities: quantile(0.95, "temporal_activity_schedule_to_start_latency_seconds"),
      },
      limit: 1,
    },
    {
      title: "Temporal: time of a request, slowest of 20",
      about: "By operation. Those that wait for work are left out.",
      unit: "s",
      queries: {
        "{{operation}}": `histogram_quantile(0.95, sum by (le, operation) (${rate('temporal_request_latency_seconds_bucket{operation!~".*Poll.*"}')}))`,
      },
    },
    {
      title: "Temporal: places of workers that are taken",
      about: "Of all that workers have of a kind. At 100 % tasks wait.",
      unit: "percentunit",
      queries: {
        "{{worker_type}}":
          "sum by (worker_type) (temporal_worker_task_slots_used) / (sum by (worker_type) (temporal_worker_task_slots_used) + sum by (worker_type) (temporal_worker_task_slots_available))",
      },
    },
  ],
  Processes: [
    {
      title: "Event loop delay",
      about: "How long a process keeps work waiting, 99 of 100 times. Above half a second it is too busy (NodeloomEventLoopBusy).",
      unit: "s",
      queries: { "{{component}}": "max by (component) (nodeloom_process_event_loop_delay)" },
      limit: 0.5,
    },
    {
      title: "Memory, the largest process of each",
      about: "Resident. The chart's limits are in values.yaml.",
      unit: "bytes",
      queries: { "{{component}}": 'max by (component) (nodeloom_process_memory{kind="resident"})' },
    },
    {
      title: "Temporal: runs kept in memory",
      about: "Between their tasks, by all replicas of executions; others are replayed when something happens to them.",
      unit: "short",
      queries: { kept: "sum(temporal_sticky_cache_size)" },
      decimals: 0,
    },
  ],
};
