// Steps of experiments: requests, answers, and the findings that they end in.
import type { LimiterLawName } from "../rules/laws.ts";
import type { QuotaCall } from "../trace/quota-record.ts";

/** A caller. Only the wires know its token. */
export interface AuditCaller {
  readonly index: number;
  /** Values of its token's attributes: `acme/ann`. */
  readonly name: string;
  /** Attributes of its token; for a subject's caller, after those that the route of its plain call adds. */
  readonly attributes: Readonly<Record<string, string>>;
}

/**
 * Ways to send a request. `slow` pauses between its halves. `cut-sending` stops within its head. `cut-waiting` closes
 * the connection once the request is out, and `cut-reading` once the answer's head is there.
 */
export type Way =
  | "kept"
  | "lone"
  | "pipelined"
  | "http/1.0"
  | "slow"
  | "cut-sending"
  | "cut-waiting"
  | "cut-reading"
  | "http/2";

/** A request to make. */
export interface Shot {
  /** Caller; `null` for a request without a token. */
  readonly caller: AuditCaller | null;
  /** Operation in the trace's line: one of the policy, `status` or `other`. */
  readonly operation: string;
  /** Attributes that keys of quotas are made of. */
  readonly attributes: Readonly<Record<string, string>>;
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
  /** Units that the request declares. */
  readonly cost: number | null;
  readonly way: Way;
  /** Time between the halves of a `slow` request, ms. */
  readonly holdMs?: number | undefined;
  /** Number of calls that one request contains, if several. */
  readonly parts?: number | undefined;
  /** Operation of the line if the answer is 400 or more, or is no status: the target may take the shape for another operation. */
  readonly otherwise?: string | undefined;
  /** True if it is unknown whether the call is charged; its line says so. */
  readonly isVague?: boolean | undefined;
}

/** An answer, or none (`status` 0). */
export interface Answer {
  readonly shot: Shot;
  /** Number of its line in the trace. */
  readonly line: number;
  readonly call: QuotaCall;
  /** Headers by lower-case name; a doubled header is joined by ", ". */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: unknown;
}

export type Step =
  | { readonly shots: readonly Shot[]; readonly together: boolean }
  | { readonly untilMs: number };

export interface Done {
  readonly answers: readonly Answer[];
  readonly nowMs: number;
}

export type ExperimentSteps<T> = Generator<Step, T, Done>;

/** A contradiction between answers and the promise. */
export interface Broken {
  readonly state: "broken";
  /** Law that is broken. Default: the experiment's own. */
  readonly law?: LimiterLawName | undefined;
  readonly expected: string;
  readonly got: string;
  /** The fewest answers that show it. */
  readonly answers: readonly Answer[];
}

export type AuditFinding =
  | Broken
  | { readonly state: "kept"; readonly note?: string }
  | { readonly state: "not exercised"; readonly why: string };

export const kept: AuditFinding = { state: "kept" };
export const unexercised = (why: string): AuditFinding => ({ state: "not exercised", why });

export const broken = (
  answers: readonly Answer[],
  expected: string,
  got: string,
  law?: LimiterLawName,
): Broken => ({ state: "broken", answers, expected, got, law });

/** Reason of an experiment whose window ended meanwhile: it shows nothing, and is repeated. */
export const windowRolled = "the window rolled";

/** Thrown by an experiment that cannot go on; `again` if another try may succeed. */
export class Unexercised extends Error {
  readonly again: boolean;

  constructor(why: string, again = false) {
    super(why);
    this.name = "Unexercised";
    this.again = again;
  }
}

export type AuditCallers = readonly [AuditCaller, ...AuditCaller[]];

/** An operation under audit, and its callers. */
export interface Subject {
  readonly operation: string;
  /** Quotas that it uses, in the policy's order; at least one. */
  readonly quotas: readonly [string, ...string[]];
  readonly callers: AuditCallers;
}

/** Charges of a trial's calls in one quota. */
export interface Charged {
  readonly quota: string;
  /** Fewest and most units, without those of the looks. */
  readonly units: number;
  readonly most: number;
  /** Units of a plain call. */
  readonly plain: number;
}

export interface ExperimentTrial {
  readonly answers: readonly Answer[];
  readonly charged: readonly Charged[];
  /** The same answers and those that show the charges. */
  readonly all: readonly Answer[];
}

export const isRefused = ({ call }: Answer): boolean => call.outcome === "refused";

export const isServed = ({ call }: Answer): boolean => call.outcome === "admitted" && call.status < 400;

/** Returns the reason why calls without room showed nothing about refusals. */
export function lacksRefusal(answers: readonly Answer[]): string {
  const other = answers.find((answer) => !isRefused(answer) && !isServed(answer));
  return other === undefined ? windowRolled : `answered ${other.call.status} where a refusal was due`;
}

/** Returns words such as `rest 12, rest_user 3 to 5`. */
export const usedWords = (charged: readonly Charged[]): string =>
  charged
    .map(({ quota, units, most }) => `${quota} ${units === most ? units : `${units} to ${most}`}`)
    .join(", ");
