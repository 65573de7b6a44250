// Steps of experiments: requests, answers, and the findings that they end in.
import type { LimiterLawName } from "../rules/laws.ts";
import type { QuotaCall } from "../trace/quota-record.ts";

/** One who calls. Its token is known to the wires alone. */
export interface AuditCaller {
  readonly index: number;
  /** The values that its token stands for: `acme/ann`. */
  readonly name: string;
  /** Attributes that its token stands for; of a subject's caller, behind those that the route of its plain call adds. */
  readonly attributes: Readonly<Record<string, string>>;
}

/** Ways to send a request. `slow` sends its halves with a pause between them. `cut-sending` stops within the request's head; `cut-waiting` and `cut-reading` close the
 * connection once the request is out, and once the answer's head is there. */
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

/** One request to make. */
export interface Shot {
  /** `null`: without a token. */
  readonly caller: AuditCaller | null;
  /** An operation of the policy, `status` or `other`: what its line in the trace says. */
  readonly operation: string;
  /** Attributes that quotas' keys are made of. */
  readonly attributes: Readonly<Record<string, string>>;
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
  /** Units that it declares. */
  readonly cost: number | null;
  readonly way: Way;
  /** Of `slow`: ms between the request's halves. */
  readonly holdMs?: number | undefined;
  /** Number of calls that one request of several has. */
  readonly parts?: number | undefined;
  /** Operation that its line has where it is answered 400 or more, or as no status is: a shape that the target may take for another operation. */
  readonly otherwise?: string | undefined;
  /** True if nobody knows whether it is charged: its line says so. */
  readonly isVague?: boolean | undefined;
}

/** An answer, or its absence (`status` 0). */
export interface Answer {
  readonly shot: Shot;
  /** Line in the trace. */
  readonly line: number;
  readonly call: QuotaCall;
  /** Names in lower case; a doubled header is joined by ", ". */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: unknown;
}

export type Step =
  | { readonly shots: readonly Shot[]; readonly together: boolean }
  | { readonly untilMs: number };

/** The outcome of a step. */
export interface Done {
  readonly answers: readonly Answer[];
  readonly nowMs: number;
}

export type ExperimentSteps<T> = Generator<Step, T, Done>;

/** A contradiction between answers and what is promised. */
export interface Broken {
  readonly state: "broken";
  /** The experiment's own law where it is left out. */
  readonly law?: LimiterLawName | undefined;
  readonly expected: string;
  readonly got: string;
  /** The fewest calls that show it. */
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

/** The reason of an experiment whose window ended meanwhile: it shows nothing, and is made again. */
export const windowRolled = "the window rolled";

/** Thrown by an experiment that cannot go on; `again` where another try may. */
export class Unexercised extends Error {
  readonly again: boolean;

  constructor(why: string, again = false) {
    super(why);
    this.name = "Unexercised";
    this.again = again;
  }
}

/** One operation under audit, and who can call it. */
export interface Subject {
  readonly operation: string;
  /** Quotas that it uses, in the policy's order. */
  readonly quotas: readonly string[];
  readonly callers: readonly AuditCaller[];
}

/** The charges of a trial's calls in one quota. */
export interface Charged {
  readonly quota: string;
  /** Units, at least and at most, beyond those of the looks. */
  readonly units: number;
  readonly most: number;
  /** Units of a plain call. */
  readonly plain: number;
}

/** Some calls, and what they were charged. */
export interface ExperimentTrial {
  readonly answers: readonly Answer[];
  readonly charged: readonly Charged[];
  /** The calls by which the charges are known, too. */
  readonly all: readonly Answer[];
}

export const isRefused = ({ call }: Answer): boolean => call.outcome === "refused";

export const isServed = ({ call }: Answer): boolean => call.outcome === "admitted" && call.status < 400;

/** Reason why calls without room show nothing of refusals. */
export function lacksRefusal(answers: readonly Answer[]): string {
  const other = answers.find((answer) => !isRefused(answer) && !isServed(answer));
  return other === undefined ? windowRolled : `answered ${other.call.status} where a refusal was due`;
}

/** `rest 12, rest_user 3 to 5`. */
export const usedWords = (charged: readonly Charged[]): string =>
  charged
    .map(({ quota, units, most }) => `${quota} ${units === most ? units : `${units} to ${most}`}`)
    .join(", ");
