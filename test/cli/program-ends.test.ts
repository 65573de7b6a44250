// Ends of a command: an error and its status, Ctrl-C, and the question before calls that use up what others need.
import { PassThrough } from "node:stream";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { requireYes } from "../../src/cli/consent.ts";
import { chooseFault, faultWords } from "../../src/cli/fault-list.ts";
import { runProgram, tellError } from "../../src/cli/program.ts";
import { untilInterrupted } from "../../src/cli/until-interrupted.ts";
import { faults } from "../../src/faults/catalogue.ts";
import { parseFault } from "../../src/faults/choice.ts";
import { SpillwayError } from "../../src/rules/errors.ts";
import { recorded } from "../support/recorded.ts";

let said: string[] = [];
const { exitCode } = process;
beforeEach(() => {
  said = [];
  vi.spyOn(process.stderr, "write").mockImplementation((text) => said.push(String(text)) > 0);
});
afterEach(() => {
  vi.restoreAllMocks();
  process.exitCode = exitCode;
});

/** Tells an error; what is said of it, and the status. */
function told(error: unknown, ...words: string[]): unknown[] {
  process.exitCode = undefined;
  tellError(error, words);
  return [...said.splice(0), process.exitCode];
}

describe("an error", () => {
  test("that is coded has its status, and is JSON where results are", () => {
    expect(told(new SpillwayError("USAGE", "no"))).toEqual(["error USAGE no\n", 2]);
    const [json, status] = told(new SpillwayError("TARGET_UNREACHABLE", "no"), "--json");
    expect([JSON.parse(String(json)), status]).toEqual([
      expect.objectContaining({ code: "TARGET_UNREACHABLE" }),
      3,
    ]);
  });

  test("that was not foreseen is a bug", () => {
    expect(told(new Error("odd"))).toEqual([
      "unexpected error: odd\nnext this is a bug in spillway; --debug shows where\n",
      70,
    ]);
    expect(told("odd", "--json")).toEqual([expect.stringMatching(/^\{"code":"UNEXPECTED"/), 70]);
  });

  test("is told with its stack under --debug", () => {
    const [stack, text] = told(new Error("odd"), "--debug");
    expect(stack).toMatch(/^Error: odd\n +at /);
    expect(text).toMatch(/^unexpected error: odd/);
  });

  const system = (more: object) => Object.assign(new Error("message"), more);
  const refused = (problem: string) => [
    `error SYSTEM_REFUSED the operating system refused what is needed\n  ${problem}\n`,
    expect.any(Number),
  ];
  test.each<[object, string]>([
    [
      { code: "ENOSPC", path: "/x" },
      "/x: got ENOSPC, allowed: free space on the disk (TMPDIR names the folder of temporary files)",
    ],
    [
      { code: "EMFILE", syscall: "open" },
      "open: got EMFILE, allowed: fewer open files, or a higher limit (ulimit -n)",
    ],
    [{ code: "EACCES" }, "a thread: got EACCES, allowed: permission"],
    [
      { code: "ENOENT", syscall: "uv_cwd" },
      "the working folder: got a folder that was deleted, allowed: one that is there",
    ],
    [{ message: "Array buffer allocation failed" }, "a thread: got ENOMEM, allowed: free memory"],
    [
      { message: "x: too many open files in system" },
      "a thread: got EMFILE, allowed: fewer open files, or a higher limit (ulimit -n)",
    ],
    [
      { code: "ERR_WORKER_INIT_FAILED", message: "Worker initialization failure: EAGAIN" },
      "a thread: got EAGAIN, allowed: room for one more process",
    ],
  ])("of the system %j is coded", (more, problem) => {
    expect(told(system(more))).toEqual(refused(problem));
  });

  test.each([
    { code: "ENOENT" },
    { code: "ERR_WORKER_INIT_FAILED" },
    { message: "my array buffer allocation failed" },
  ])("%j is none of the system's", (more) => {
    expect(told(system(more))[1]).toBe(70);
  });

  test("of a command ends it", async () => {
    process.exitCode = undefined;
    await runProgram(["frobnicate"]);
    expect([said[0]?.split("\n")[0], process.exitCode]).toEqual(["error USAGE there is no such verb", 2]);
  });

  test("passes the choice of colours on", async () => {
    const colors = async (...words: string[]) => {
      vi.stubEnv("NO_COLOR", "a");
      vi.stubEnv("FORCE_COLOR", "b");
      await runProgram(["frobnicate", ...words]);
      const { NO_COLOR, FORCE_COLOR } = process.env;
      vi.unstubAllEnvs();
      return [NO_COLOR, FORCE_COLOR];
    };
    expect(await colors()).toEqual(["a", "b"]);
    expect(await colors("--color")).toEqual([undefined, "1"]);
    expect(await colors("--no-color")).toEqual(["1", undefined]);
  });
});

describe("Ctrl-C", () => {
  /** Does work under a signal that is aborted meanwhile, or not; the result, and what was said. */
  async function ended(isStopped: boolean, work: () => unknown, words?: string, isCut?: boolean) {
    const before = process.listeners("SIGINT");
    const { terminal, lines } = recorded();
    process.exitCode = undefined;
    const result = await untilInterrupted(
      terminal,
      async (signal) => {
        const [stop] = process.listeners("SIGINT").filter((one) => !before.includes(one));
        if (isStopped) stop?.("SIGINT");
        expect(signal.aborted).toBe(isStopped);
        return work();
      },
      words,
      isCut,
    ).catch((error: unknown) => error);
    expect(process.listeners("SIGINT")).toEqual(before);
    return [result, lines, process.exitCode];
  }
  const odd = new Error("odd");
  const coded = new SpillwayError("LOG_INVALID", "cut");
  const thrown = (error: Error) => (): never => {
    throw error;
  };

  test("says that work was given up, if it throws then", async () => {
    expect(await ended(true, thrown(odd), "Interrupted.")).toEqual([null, ["Interrupted."], 130]);
    expect(await ended(true, thrown(coded), "Interrupted.", true)).toEqual([null, ["Interrupted."], 130]);
  });

  test("leaves results and errors of the user's as they are", async () => {
    expect(await ended(true, () => 5, "Interrupted.")).toEqual([5, [], undefined]);
    expect(await ended(false, () => 5)).toEqual([5, [], undefined]);
    expect(await ended(true, thrown(coded), "Interrupted.")).toEqual([coded, [], undefined]);
    expect(await ended(true, thrown(odd))).toEqual([odd, [], undefined]);
    expect(await ended(false, thrown(odd), "Interrupted.")).toEqual([odd, [], undefined]);
  });
});

describe("consent", () => {
  /** Asks on a terminal, answers, and returns what was asked and said. */
  async function answered(answer: string | null, isTTY = [true, true]) {
    const [input, output] = [0, 1].map((at) =>
      Object.assign(new PassThrough(), { isTTY: isTTY[at] as boolean }),
    );
    if (input === undefined || output === undefined) throw new Error("there are two streams");
    const { terminal, lines } = recorded();
    const asked = requireYes(terminal, { input, output });
    if (answer === null) input.end();
    else input.write(`${answer}\n`);
    const error = await asked.catch((caught: unknown) => caught);
    output.end();
    const said = (await output.toArray()).join("");
    return [said.includes("Go on? [y/N] "), lines, error];
  }

  test.each(["y", "yes", " YES ", "Y"])("is %j", async (answer) => {
    expect(await answered(answer)).toEqual([true, [""], undefined]);
  });

  test.each(["", "n", "yess", "no y", null])("is not %j", async (answer) => {
    expect(await answered(answer)).toEqual([
      true,
      [],
      expect.objectContaining({
        message: "nothing was called: the answer was not yes",
        hint: "--yes goes on without asking",
      }),
    ]);
  });

  test.each([
    [false, true],
    [true, false],
  ])("is asked of people alone: input %s, output %s", async (...isTTY) => {
    const [isAsked, , error] = await answered("y", isTTY);
    expect([isAsked, error]).toEqual([
      false,
      expect.objectContaining({ message: "nothing was called: nobody is there to say yes" }),
    ]);
  });
});

describe("a fault", () => {
  test("is none, one by its name, or the list of all", async () => {
    const { terminal, tagged, results } = recorded();
    expect(await chooseFault(undefined, terminal)).toBeNull();
    expect(await chooseFault("one-extra", terminal)).toEqual(parseFault("one-extra"));
    expect(tagged).toEqual([]);
    expect(await chooseFault("list", terminal)).toBe("list");
    const widest = Math.max(...faults.map(({ name }) => name.length));
    expect(tagged[0]).toBe(`<bold>${"NAME".padEnd(widest)}  NETS     WHAT IS WRONG</>`);
    const rated = faults.filter(({ rate }) => rate !== null);
    expect(tagged).toHaveLength(faults.length + rated.length + 3);
    const [first] = rated;
    expect(tagged).toContain(
      `<dim>${" ".repeat(widest)}           =${first?.rate?.default}: ${first?.rate?.meaning}</>`,
    );
    const extra = faults.find(({ name }) => name === "one-extra");
    const nets = ["P", "V", "L", "A"]
      .map((net) => (extra?.nets.includes(net as never) ? net : "·"))
      .join(" ");
    expect(tagged).toContain(`${"one-extra".padEnd(widest)}  ${nets}  ${extra?.wrong}`);
    expect(tagged.slice(-2)).toEqual([
      "",
      "Nets: P the laws (check), V the oracle over a trace (verify), L the checks inside k6 (load), A audit alone.",
    ]);
    expect(results).toEqual([
      faults.map(({ name, wrong, shows, seenIn, nets, rate }) => ({
        name,
        wrong,
        shows,
        seenIn,
        nets,
        rate,
      })),
    ]);
  });

  test("that shows to headers alone is for serve", async () => {
    const hidden = faults.find(({ nets }) => nets.every((net) => net === "L" || net === "A"));
    if (hidden === undefined) throw new Error("there is such a fault");
    await expect(faultWords(parseFault(hidden.name), "simulate")).rejects.toMatchObject({
      code: "FAULT_INVALID",
      problems: [{ path: "--fault", got: `"${hidden.name}"`, allowed: "a fault that simulate can show" }],
      hint: `npx spillway serve --fault ${hidden.name}, and let clients call that`,
    });
    const { fault } = parseFault("one-extra");
    expect(await faultWords(parseFault("one-extra"), "check")).toEqual({
      ...{ text: "one-extra", note: `the fault one-extra is injected: ${fault.wrong}` },
    });
  });
});
