// Deployments by their number of processes, without a process: each refuses to start, and says with what.
import { describe, expect, test } from "vitest";
import { parseFault } from "../../src/faults/choice.ts";
import { parseRules } from "../../src/rules/parse.ts";
import { type DeployOptions, deploy } from "../../src/service/deploy.ts";
import { listenError } from "../../src/service/listen.ts";

const rules = parseRules({});
const tls = { cert: "", key: "" };

/** Starts a deployment whose workers cannot be forked. @returns its workers, or its error */
async function tried(options: Partial<DeployOptions>) {
  let forked = 0;
  const fork = (): never => {
    forked += 1;
    throw new Error("no process");
  };
  const made = await deploy({ rules, tokens: [], port: 0, fork, ...options }).catch(
    (error: unknown) => error,
  );
  if (made instanceof Error) return { forked, error: made as Error & { problems?: readonly object[] } };
  const { workers, close } = made as Awaited<ReturnType<typeof deploy>>;
  await close();
  return { forked, workers };
}

describe("a deployment", () => {
  test.each([
    ["as a rule", {}],
    ["where one is asked for", { workers: 1 }],
    ["with a fault of one process", { fault: parseFault("double-count") }],
    ["with a fault of one process, asked for one", { fault: parseFault("double-count"), workers: 1 }],
  ])("is this process %s", async (_, options) => {
    expect(await tried(options)).toEqual({ forked: 0, workers: 1 });
  });

  test.each([
    ["as many as are asked for", { workers: 3 }, 3],
    ["as many as a fault's rate says", { fault: parseFault("per-instance-counters=4") }, 4],
    ["two at least", { fault: parseFault("stale-replica-read=2") }, 2],
    ["more for a fault, if asked", { fault: parseFault("stale-replica-read=2"), workers: 5 }, 5],
  ])("is several processes: %s", async (_, options, forked) => {
    expect(await tried(options)).toEqual({ forked, error: new Error("no process") });
  });

  test.each([
    [
      { workers: 3, tls },
      "TLS is spoken by one process",
      [{ path: "workers", got: "3", allowed: "1" }],
      undefined,
    ],
    [
      { fault: parseFault("double-count"), workers: 2 },
      "this fault cannot be had by so many processes",
      [{ path: "workers", got: "2", allowed: "1" }],
      "double-count is a fault of one process: leave --workers out",
    ],
    [
      { fault: parseFault("per-instance-counters"), workers: 1 },
      "this fault cannot be had by so many processes",
      [{ path: "workers", got: "1", allowed: "2 or more" }],
      "per-instance-counters is a fault of several processes",
    ],
  ])("refuses %o", async (options, message, problems, hint) => {
    const { forked, error } = await tried(options);
    expect([forked, error?.message.split("\n")[0]]).toEqual([0, message]);
    expect(error).toMatchObject({ code: "USAGE", problems });
    expect((error as { hint?: string } | undefined)?.hint).toBe(hint);
  });
});

describe("an address that cannot be bound", () => {
  const system = (code: string) => Object.assign(new Error("listen"), { code });

  test("with a port in use is told so", () => {
    const cause = system("EADDRINUSE");
    expect(listenError(cause, 80, "::1")).toMatchObject({
      code: "PORT_IN_USE",
      message: "port 80 of ::1 is in use",
      hint: "stop what listens there, or choose another port: --port 0 takes any free one",
      cause,
    });
  });

  test.each([
    ["EACCES", "a port that you may open (most systems: from 1024)"],
    ["EADDRNOTAVAIL", "an address of this machine"],
    ["ENOTFOUND", "an address of this machine"],
    ["EAI_AGAIN", "an address of this machine"],
    ["ERR_SOCKET_BAD_PORT", "a port from 0 to 65535"],
  ])("by %s has to be %s", (code, allowed) => {
    expect(listenError(system(code), 80, "host")).toMatchObject({
      code: "USAGE",
      problems: [{ path: "host:port", got: `host:80 (${code})`, allowed }],
    });
  });

  test("for another reason is the error as it came", () => {
    for (const error of [system("EOTHER"), new Error("none")])
      expect(listenError(error, 80, "host")).toBe(error);
  });
});
