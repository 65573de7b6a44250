// Watches by free status calls how windows move by themselves, and around their ends.
import { type Scope, scopes } from "../rules/rules.ts";
import { edges } from "./offsets.ts";
import { graphqlGet } from "./queries.ts";
import { whole } from "./seen.ts";
import type { ProbeSession } from "./session.ts";
import { type FullSight, headerSights, statusSights } from "./sight.ts";

/** Pauses between looks, ms: a little over three seconds in all, at all fractions of a second. */
const lookEveryMs = [230, 270, 310, 190, 260, 240, 280, 220, 290, 250, 210, 300, 230] as const;

/** Reads the status repeatedly, to see what moves without the probe's calls. */
export async function look(session: ProbeSession): Promise<void> {
  for (const pauseMs of lookEveryMs) {
    session.say("looking on: free status calls");
    await session.pause(pauseMs);
    if ((await session.status()) === null) return;
  }
}

/** Time between status calls around a window's end, ms. */
const pollEveryMs = 90;
/** Pauses after a window's end, ms, so that readings of the new window fall on all parts of a second. */
const afterEveryMs = [160, 230, 250, 240, 270] as const;

/** Bounds of a window's end by the prober's clock, ms, however `reset` is rounded. */
const endsFromMs = ({ call, reset }: FullSight): number => call.sentMs + (reset - 1) * 1000;
const endsToMs = ({ call, reset }: FullSight): number => call.receivedMs + (reset + 1) * 1000;

/** Returns the end of the window last seen, by all its readings; `null` if it is idle and moves. */
function openWindow(
  session: ProbeSession,
  scope: Scope,
): { fromMs: number; toMs: number; resetAtMs: number } | null {
  const sights = statusSights(session.calls, scope);
  const last = sights.at(-1);
  if (last === undefined) return null;
  const same = sights.filter(({ resetAtMs }) => resetAtMs === last.resetAtMs);
  const first = same[0] as FullSight;
  if (last.current === 0 && last.call.sentMs - first.call.receivedMs < 1010) return null;
  return {
    fromMs: Math.max(...same.map(endsFromMs)),
    toMs: Math.min(...same.map(endsToMs)),
    resetAtMs: last.resetAtMs,
  };
}

/**
 * Waits for the organization's window of a scope to end, and reads it often around the end.
 * @returns whether it was seen to end; `false` at once if no window is open or it ends too late
 */
export async function waitForEnd(session: ProbeSession, scope: Scope): Promise<boolean> {
  const window = openWindow(session, scope);
  if (window === null) return false;
  if (window.toMs - session.now() > session.left.waitMs) return false;
  const ended = (): boolean =>
    (statusSights(session.calls, scope).at(-1) as FullSight).resetAtMs > window.resetAtMs;
  const waitMs = window.fromMs - 150 - session.now();
  session.say(`waiting for the ${scope} window to end`, waitMs);
  if (!(await session.wait(waitMs))) return false;
  while (!ended() && session.now() < window.toMs + 1000) {
    session.say(`watching the ${scope} window end`);
    if ((await session.status()) === null) return false;
    if (!ended()) await session.wait(Math.min(pollEveryMs, session.left.waitMs));
  }
  for (const pauseMs of afterEveryMs) {
    await session.pause(pauseMs);
    if ((await session.status()) === null) break;
  }
  return ended();
}

/** Reads the user's window. REST's status shows it too; GraphQL's takes a call of its own. */
async function readUser(session: ProbeSession, scope: Scope): Promise<void> {
  if (scope === "graphql") await session.act(graphqlGet);
  else await session.status();
}

/** Waits until the user's window has surely ended, and reads it before and after. */
export async function waitForUserEnd(session: ProbeSession, scope: Scope): Promise<boolean> {
  const last = headerSights(session.calls, scope, "user").at(-1);
  const reset = whole(last?.reset);
  if (last === undefined || reset === null) return false;
  const toMs = last.call.receivedMs + (reset + 1) * 1000 + 50;
  const waitMs = toMs - session.now();
  session.say(`waiting for the user's ${scope} window to end`, waitMs);
  if (!(await session.wait(waitMs))) return false;
  await readUser(session, scope);
  await session.pause(330);
  await readUser(session, scope);
  return true;
}

/** Waits for a window of each scope to end, the sooner one first, as far as the allowance goes. */
export async function waitForEnds(session: ProbeSession): Promise<void> {
  const tried = new Set<Scope>();
  for (;;) {
    const [soonest] = scopes
      .filter((scope) => !tried.has(scope) && edges(session.calls, scope).length === 0)
      .flatMap((scope) => {
        const window = openWindow(session, scope);
        return window === null ? [] : [{ scope, toMs: window.toMs }];
      })
      .sort((a, b) => a.toMs - b.toMs);
    if (soonest === undefined) return;
    tried.add(soonest.scope);
    await waitForEnd(session, soonest.scope);
  }
}
