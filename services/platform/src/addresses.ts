import { hostPort } from "./config";
import { SERVICES } from "./services";

export type ServiceName = keyof typeof SERVICES;
type Callee<N extends ServiceName> = (typeof SERVICES)[N]["calls"][number];
type Address = ReturnType<typeof addressOf>;

const addressOf = (port: number, description: string) => hostPort().default(`127.0.0.1:${port}`).describe(description);

const mainPort = (name: ServiceName): number => Object.values(SERVICES[name].listens)[0]!;

/** Name of the variable that contains a service's listen address, such as `BILLING_LISTEN`. */
export const listenVariable = <N extends ServiceName>(name: N) =>
  ({ [`${name.toUpperCase()}_LISTEN`]: addressOf(mainPort(name), `where the ${name} service listens`) }) as Record<
    `${Uppercase<N>}_LISTEN`,
    Address
  >;

/** Variables that contain the addresses of called services, such as `BILLING_ADDRESS`. */
export const addressVariables = <N extends ServiceName>(name: N) =>
  Object.fromEntries(
    SERVICES[name].calls.map((callee) => [`${callee.toUpperCase()}_ADDRESS`, addressOf(mainPort(callee), `the ${callee} service`)]),
  ) as Record<`${Uppercase<Callee<N>>}_ADDRESS`, Address>;

/** Services that call this service, named as in their certificates. */
export const callersOf = (name: string): string[] =>
  Object.entries(SERVICES).flatMap(([caller, { calls }]) => (calls.some((callee) => callee === name) ? [caller] : []));
