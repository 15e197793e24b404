import { lazyRouteComponent } from "@tanstack/react-router";
import { NodeloomError } from "@nodeloom/client";
import { PAGE_CODE } from "../messages/parts";

/** True if the service responds. */
const isReachable = (): Promise<boolean> =>
  fetch("/", { method: "HEAD", cache: "no-store" }).then(
    () => true,
    () => false,
  );

/** Browsers don't retry code that failed to load, so the whole page is reloaded once the service responds. */
export const reloadIfReachable = async (): Promise<void> => {
  if (await isReachable()) location.reload();
};

/**
 * A page whose code is loaded when it is first opened. If a release has replaced the code, the router reloads the page. Without a network a
 * reload would show the browser's error page, so the page reports the failure instead.
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
      throw new NodeloomError({ status: 0, code: undefined, message: PAGE_CODE.loadFailed, cause });
    }
  }, name);
