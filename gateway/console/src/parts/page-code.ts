import { lazyRouteComponent } from "@tanstack/react-router";
import { NodeloomError } from "@nodeloom/client";

/** Whether the service's own address answers at all. */
const isReachable = (): Promise<boolean> =>
  fetch("/", { method: "HEAD", cache: "no-store" }).then(
    () => true,
    () => false,
  );

/** A browser does not ask twice for code that it could not load: the whole page is loaded again, once there is somebody to ask. */
export const reloadIfReachable = async (): Promise<void> => {
  if (await isReachable()) location.reload();
};

/**
 * A page whose code is loaded when it is first opened. Code that is gone (a release has replaced it) makes the router reload; while the
 * network is away that would end on the browser's own error page, so then the page says that the service can't be reached.
 */
export const pageOf = <Module extends Record<string, unknown>, Name extends keyof Module & string>(
  load: () => Promise<Module>,
  name: Name,
) =>
  lazyRouteComponent(async (): Promise<Module> => {
    try {
      return await load();
    } catch (cause) {
      if (await isReachable()) throw cause;
      throw new NodeloomError({ status: 0, code: undefined, message: "The page could not be loaded.", cause });
    }
  }, name);
