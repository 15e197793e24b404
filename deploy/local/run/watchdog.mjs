import { spawn } from "node:child_process";

/**
 * Ends child processes with this one. A tiny shell holds the read end of a pipe. The pipe closes when this process dies, even by SIGKILL;
 * then the shell ends every registered process group.
 */
const WATCHDOG_SCRIPT = `
trap '' INT TERM HUP
groups=
while read -r verb group; do
  case $verb in
    add) groups="$groups $group" ;;
    remove)
      kept=
      for known in $groups; do [ "$known" = "$group" ] || kept="$kept $known"; done
      groups=$kept ;;
  esac
done
[ -n "$groups" ] || exit 0
for group in $groups; do kill -s TERM -- "-$group" 2>/dev/null; done
tries=0
while [ $tries -lt 50 ]; do
  alive=
  for group in $groups; do kill -s 0 -- "-$group" 2>/dev/null && alive=yes; done
  [ -n "$alive" ] || exit 0
  sleep 0.2
  tries=$((tries + 1))
done
for group in $groups; do kill -s KILL -- "-$group" 2>/dev/null; done
`;

/** @type {import("node:stream").Writable | undefined} */
let registration;

const openRegistration = () => {
  const watchdog = spawn("/bin/sh", ["-c", WATCHDOG_SCRIPT], { stdio: ["pipe", "ignore", "ignore"], detached: true });
  const { stdin } = watchdog;
  stdin.on("error", () => {});
  watchdog.on("error", () => {});
  watchdog.unref();
  // The pipe must not keep this process alive.
  /** @type {import("node:net").Socket} */ (/** @type {unknown} */ (stdin)).unref();
  return stdin;
};

/** Ends the process group of `pid` when this process ends. @param {number} pid leader of its own process group */
export const guard = (pid) => {
  registration ??= openRegistration();
  registration.write(`add ${pid}\n`);
};

/** @param {number} pid */
export const unguard = (pid) => {
  registration?.write(`remove ${pid}\n`);
};
