// Experiments in virtual time: a server as a function of requests, and a clock that steps move.
import { experiments } from "../../src/audit/experiments.ts";
import { Lab } from "../../src/audit/lab.ts";
import { AuditRecord } from "../../src/audit/record.ts";
import type {
  Answer,
  AuditCaller,
  AuditCallers,
  AuditFinding,
  Done,
  ExperimentSteps,
  Shot,
} from "../../src/audit/step.ts";
import type { Raw } from "../../src/audit/wires.ts";
import { parsePolicy } from "../../src/policy/parse.ts";
import type { Policy } from "../../src/policy/policy.ts";

export const limit = 10;
export const windowMs = 10_000;

type Anchor = "first-request" | "epoch";

/** Whose requests share a count: a user's, those to a room of the path, or those of a user to it. */
export type Key = "user" | "room" | "user room";

/** Ten requests in ten seconds. */
const ownPolicy = (anchor: Anchor, key: Key): Policy =>
  parsePolicy({
    version: 2,
    name: "own",
    quotas: {
      requests: {
        algorithm: { kind: "fixed-window", limit, windowSeconds: windowMs / 1000, anchor },
        key: key.split(" "),
      },
    },
    operations: { call: { uses: { requests: 1 }, samples: [{ path: "/blue" }, { path: "/green" }] } },
    routes: [{ path: "/{room}", operation: "call" }],
    auth: { header: "Authorization", form: "Bearer {token}", attributes: ["user"] },
    wire: {
      revision: "2026",
      readings: [
        {
          headers: { "X-Limit": "{limit}", "X-Left": "{remaining}", "X-Reset": "{reset}" },
          reset: { form: "delta-s", means: "window-end", round: "ceil" },
        },
      ],
      retryAfter: [{ header: "Retry-After", form: "delta-s" }],
    },
  });

export interface Sent {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface PlayedOptions {
  readonly untilMs?: number;
  readonly key?: Key;
  /** In place of ten requests in ten seconds. */
  readonly policy?: Policy;
  readonly attributesOf?: (user: string) => Readonly<Record<string, string>>;
  /** Time that a call takes, ms; 4 unless told. */
  readonly tripMs?: number;
  /** Time by which a wait ends late, ms, by its number from 1; none unless told. */
  readonly lateMs?: (wait: number) => number;
}

export type Served = (shot: Shot, nowMs: number) => Sent;

/** Readings of a right server's window. */
export interface Shown {
  readonly isRefused: boolean;
  readonly headers: Readonly<Record<string, string>>;
}

/** A right server, its answers changed by `change`. */
export function serving(
  change: (shown: Shown, shot: Shot, nowMs: number) => Sent | null = () => null,
  key: Key = "user",
): Served {
  const windows = new Map<string, { endMs: number; used: number }>();
  return (shot, nowMs) => {
    const whose = key
      .split(" ")
      .map((name) => (name === "user" ? shot.caller?.name : shot.path))
      .join(" ");
    const known = windows.get(whose);
    const window = known === undefined || known.endMs <= nowMs ? { endMs: nowMs + windowMs, used: 0 } : known;
    windows.set(whose, window);
    const isRefused = window.used >= limit;
    if (!isRefused) window.used += 1;
    const headers = {
      "x-limit": String(limit),
      "x-left": String(limit - window.used),
      "x-reset": String(Math.ceil((window.endMs - nowMs) / 1000)),
    };
    return change({ isRefused, headers }, shot, nowMs) ?? { status: isRefused ? 429 : 200, headers };
  };
}

const none: Sent = { status: 0, body: "" };

/** Plays steps against a server, from time 0 on. */
export class Played {
  readonly lab: Lab;
  readonly answers: Answer[] = [];
  readonly #record: AuditRecord;
  readonly #server: Served;
  readonly #tripMs: number;
  readonly #lateMs: (wait: number) => number;
  #nowMs = 0;
  #waits = 0;

  constructor(
    server: Served,
    users = 3,
    anchor: Anchor = "first-request",
    {
      untilMs = 120_000,
      key = "user",
      policy = ownPolicy(anchor, key),
      attributesOf = (user) => ({ user }),
      tripMs = 4,
      lateMs = () => 0,
    }: PlayedOptions = {},
  ) {
    const callers = Array.from({ length: users }, (_, index): AuditCaller => {
      const name = `user-${index}`;
      return { index, name, attributes: attributesOf(name) };
    }) as unknown as AuditCallers;
    const timed = { beganMs: 0, untilMs };
    this.lab = new Lab({ policy, callers, alone: true, spend: 1, isTls: false, ...timed });
    const clock = { kind: "wall", resolutionMs: 1, errorMs: 0 } as const;
    const origin = { source: "other", scenario: "audit", seed: null, target: "http://127.0.0.1" } as const;
    const counted = { startedAt: 0, clock, policy, complete: true, lost: 0 };
    this.#record = new AuditRecord(
      { format: "spillway-trace", version: 2, ...origin, ...counted },
      [],
      false,
      [],
    );
    this.#server = server;
    this.#tripMs = tripMs;
    this.#lateMs = lateMs;
  }

  play<T>(steps: ExperimentSteps<T>): T {
    let next = steps.next();
    while (next.done !== true) {
      const step = next.value;
      if ("untilMs" in step) {
        this.#waits += 1;
        this.#nowMs = Math.max(this.#nowMs, step.untilMs + this.#lateMs(this.#waits));
      }
      const answers = "untilMs" in step ? [] : step.shots.map((shot) => this.#call(shot));
      const done: Done = { answers, nowMs: this.#nowMs };
      next = steps.next(done);
    }
    return next.value;
  }

  #call(shot: Shot): Answer {
    const sentMs = this.#nowMs;
    this.#nowMs += this.#tripMs + (shot.holdMs ?? 0);
    const served = shot.way === "cut-sending" ? none : this.#server(shot, this.#nowMs - this.#tripMs / 2);
    const { status, headers = {}, body = "{}" } = shot.way.startsWith("cut-") ? none : served;
    const error = status === 0 ? "cut off" : null;
    const raw: Raw = { sentMs, receivedMs: this.#nowMs, status, headers, body, error };
    const answer = this.#record.add(shot, raw);
    this.lab.book.note(answer);
    this.answers.push(answer);
    return answer;
  }
}

/** Plays an experiment on calls of an operation: the policy's first, unless told. */
export function findingOf(
  name: string,
  played: Played,
  operation = played.lab.subjects[0]?.operation,
): AuditFinding {
  const subject = played.lab.subjects.find((each) => each.operation === operation);
  const experiment = experiments.find((each) => each.name === name);
  if (subject === undefined || experiment === undefined) throw new RangeError(name);
  return played.play(experiment.run(played.lab, subject));
}

/** Judges all answers of calls by an experiment. */
export const judgementOf = (name: string, { lab, answers }: Played): AuditFinding | undefined =>
  experiments.find((each) => each.name === name)?.judge?.(lab, answers);

/** Members of a policy of two operations, each with a quota of its own: `reads` and `writes`. */
export const readsAndWrites = {
  operations: {
    read: { uses: { reads: 1 }, samples: [{ path: "/read" }] },
    write: { uses: { writes: 1 }, samples: [{ path: "/write" }] },
  },
  routes: [
    { path: "/read", operation: "read" },
    { path: "/write", operation: "write" },
  ],
  auth: { header: "Authorization", form: "Bearer {token}", attributes: ["user"] },
};
