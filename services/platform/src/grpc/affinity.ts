import { hash } from "node:crypto";
import { connectivityState, experimental, type Metadata } from "@grpc/grpc-js";

/**
 * Calls of one key go to one replica, chosen by rendezvous hashing over the replicas that are connected. Clients that know the same
 * replicas choose the same one, and a replica that joins or leaves moves only its own keys. The choice is only a preference: services stay
 * correct if clients know different replicas. Calls without a key use the replicas in turn.
 */

const POLICY = "nodeloom_affinity";
const KEY = "x-affinity-key";

/**
 * Methods whose calls have a key, with the member of the request that is the key. Billing's replicas batch the commands of one account;
 * commands on two replicas would invalidate each other's conditional updates. Reads use all replicas.
 */
const KEY_MEMBERS: Readonly<Record<string, string>> = Object.fromEntries(
  ["Hold", "ExtendHold", "Settle"].map((method) => [`/nodeloom.billing.v1.BillingService/${method}`, "userId"]),
);

/** Service configuration of a client's channel. */
export const SERVICE_CONFIG = JSON.stringify({ loadBalancingConfig: [{ [POLICY]: {} }] });

/** Adds a request's key, if calls of its method have keys, to the metadata of the call. */
export const addKey = (path: string, request: unknown, metadata: Metadata): void => {
  const member = KEY_MEMBERS[path];
  const key = member === undefined ? undefined : (request as Record<string, unknown>)[member];
  if (typeof key === "string" && key !== "") metadata.set(KEY, encodeURIComponent(key));
};

/** Returns the candidate with the highest hash together with the key. */
export const rendezvous = <T>(key: string, candidates: readonly T[], nameOf: (candidate: T) => string): T | undefined => {
  let best: { candidate: T; score: string } | undefined;
  for (const candidate of candidates) {
    const score = hash("sha256", `${nameOf(candidate)} ${key}`);
    if (!best || score > best.score) best = { candidate, score };
  }
  return best?.candidate;
};

type Replica = experimental.LeafLoadBalancer;

const isIn = (state: connectivityState, replica: Replica): boolean => replica.getConnectivityState() === state;

class AffinityPicker implements experimental.Picker {
  private readonly replicas: { name: string; picker: experimental.Picker }[];
  private turn: number;

  constructor(ready: readonly Replica[]) {
    this.replicas = ready.map((replica) => ({ name: experimental.endpointToString(replica.getEndpoint()), picker: replica.getPicker() }));
    this.turn = Math.floor(Math.random() * ready.length);
  }

  pick(call: experimental.PickArgs): experimental.PickResult {
    const [key] = call.metadata.get(KEY);
    const preferred = key === undefined ? undefined : rendezvous(String(key), this.replicas, ({ name }) => name);
    this.turn = (this.turn + 1) % this.replicas.length;
    return (preferred ?? this.replicas[this.turn]!).picker.pick(call);
  }
}

/** Keeps a connection to every replica, as `round_robin` does. */
class AffinityBalancer implements experimental.LoadBalancer {
  private replicas: Replica[] = [];
  private state = connectivityState.IDLE;
  private isPaused = false;
  private lastError: string | null = null;
  private readonly replicaHelper: experimental.ChannelControlHelper;

  constructor(private readonly helper: experimental.ChannelControlHelper) {
    this.replicaHelper = experimental.createChildChannelControlHelper(helper, {
      updateState: (state, _picker, error) => {
        // A lost connection can mean that the name has other addresses now.
        if (this.state === connectivityState.READY && state !== connectivityState.READY) helper.requestReresolution();
        this.lastError = error ?? this.lastError;
        this.update();
      },
    });
  }

  private report(state: connectivityState, picker: experimental.Picker, error: string | null): void {
    this.state = state;
    this.helper.updateState(state, picker, error);
  }

  private fail(details: string): void {
    this.report(connectivityState.TRANSIENT_FAILURE, new experimental.UnavailablePicker({ details }), details);
  }

  private update(): void {
    if (this.isPaused) return;
    const ready = this.replicas.filter((replica) => isIn(connectivityState.READY, replica));
    if (ready.length > 0) this.report(connectivityState.READY, new AffinityPicker(ready), null);
    else if (this.replicas.some((replica) => isIn(connectivityState.CONNECTING, replica)))
      this.report(connectivityState.CONNECTING, new experimental.QueuePicker(this), null);
    else if (this.replicas.some((replica) => isIn(connectivityState.TRANSIENT_FAILURE, replica)))
      this.fail(`No connection established. Last error: ${this.lastError}`);
    else this.report(connectivityState.IDLE, new experimental.QueuePicker(this), null);
    for (const replica of this.replicas) if (isIn(connectivityState.IDLE, replica)) replica.exitIdle();
  }

  updateAddressList(...[endpoints, , options, note]: Parameters<experimental.LoadBalancer["updateAddressList"]>): boolean {
    if (!endpoints.ok) {
      if (this.replicas.length === 0) this.fail(endpoints.error.details ?? "the name can't be resolved");
      return true;
    }
    this.destroy();
    if (endpoints.value.length === 0) this.fail(`No addresses resolved. Resolution note: ${note}`);
    this.isPaused = true;
    this.replicas = endpoints.value.map((endpoint) => new experimental.LeafLoadBalancer(endpoint, this.replicaHelper, options, note));
    for (const replica of this.replicas) replica.startConnecting();
    this.isPaused = false;
    if (this.replicas.length > 0) this.update();
    return true;
  }

  /** Replicas are always connected, so there is nothing to do. */
  exitIdle(): void {}

  /** Connections have their own backoff. */
  resetBackoff(): void {}

  destroy(): void {
    for (const replica of this.replicas) replica.destroy();
    this.replicas = [];
  }

  getTypeName(): string {
    return POLICY;
  }
}

class AffinityConfig implements experimental.TypedLoadBalancingConfig {
  static createFromJson(): AffinityConfig {
    return new AffinityConfig();
  }

  getLoadBalancerName(): string {
    return POLICY;
  }

  toJsonObject(): object {
    return { [POLICY]: {} };
  }
}

experimental.registerLoadBalancerType(POLICY, AffinityBalancer, AffinityConfig);
