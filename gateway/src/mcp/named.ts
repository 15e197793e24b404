import type { Route } from "../edge/route";

export const routeNamed = (routes: readonly Route[], operationId: string): Route => {
  const route = routes.find((one) => one.operationId === operationId);
  if (!route) throw new Error(`there is no operation ${operationId}`);
  return route;
};
