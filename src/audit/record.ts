// Keeps an audit's calls as lines of a trace of version 2; for the API of SPEC.md also of version 1, whose oracle knows
// more of it.
import { refusalFacts, usedQuotas } from "../policy/effective.ts";
import type { Policy } from "../policy/policy.ts";
import { wireOf } from "../policy/presets.ts";
import type { WireData } from "../policy/wire-data.ts";
import { readAnswer as readSeen, traceCall } from "../probe/seen.ts";
import { isPlainObject } from "../rules/plain-object.ts";
import { answerMembers, noAnswer } from "../trace/quota-answer.ts";
import { encodeQuotaCall } from "../trace/quota-lines.ts";
import type { QuotaCall, QuotaTraceHeader } from "../trace/quota-record.ts";
import type { TraceCall } from "../trace/record.ts";
import { readBody } from "../wire/bodies.ts";
import { pointed } from "../wire/pointer.ts";
import { readAnswer } from "../wire/read-answer.ts";
import type { Answer, Shot } from "./step.ts";
import type { Raw } from "./wires.ts";

export class AuditRecord {
  header: QuotaTraceHeader;
  /** Lines after the header. */
  readonly calls: QuotaCall[];
  /** True if the trace began in an earlier audit. */
  readonly goesOn: boolean;
  /** The same calls as lines of version 1. */
  readonly plain: TraceCall[] = [];
  readonly #policy: Policy;
  readonly #wire: WireData;
  readonly #quotas: ReadonlySet<string>;
  readonly #tokens: readonly string[];
  readonly #isDefault: boolean;

  /**
   * @param tokens secrets that a target might echo
   * @param earlier calls of the resumed audit's trace
   */
  constructor(
    header: QuotaTraceHeader,
    tokens: readonly string[],
    isDefault: boolean,
    earlier: readonly QuotaCall[],
  ) {
    this.header = header;
    this.calls = [...earlier];
    this.goesOn = earlier.length > 0;
    this.#policy = header.policy;
    this.#wire = wireOf(header.policy);
    this.#quotas = new Set(Object.keys(header.policy.quotas));
    this.#tokens = tokens;
    this.#isDefault = isDefault;
  }

  /** Notes calls whose answers nobody waited for. */
  lose(calls: number): void {
    this.header = { ...this.header, lost: this.header.lost + calls };
  }

  /** Records a call. */
  add(asked: Shot, raw: Raw): Answer {
    const headers = Object.fromEntries(
      Object.entries(raw.headers).map(([name, value]) => [
        name,
        value === undefined ? value : this.#clean(value),
      ]),
    );
    const text = this.#clean(raw.body);
    const body = readBody(text);
    const isOther =
      asked.otherwise !== undefined && (raw.status >= 400 || this.#isOfNoStatus(asked, raw, body));
    const shot = isOther
      ? { ...asked, operation: asked.otherwise ?? "", cost: asked.cost ?? 1, isVague: true }
      : asked;
    const call: QuotaCall = {
      sent: raw.sentMs,
      received: raw.receivedMs,
      client: "audit/0",
      call: this.calls.length,
      caller: shot.attributes,
      operation: shot.operation,
      cost: shot.operation === "status" || shot.operation === "other" ? null : shot.cost,
      status: raw.status,
      ...this.#members(shot, raw, headers, body),
      ...(isOther ? { outcome: "unknown" as const } : {}),
    };
    this.calls.push(call);
    if (this.#isDefault) this.#addPlain(shot, raw, headers, text, call.call);
    return { shot, line: this.calls.length + 1, call, headers, body };
  }

  #clean(text: string): string {
    return this.#tokens.reduce((clean, token) => clean.replaceAll(token, "$TOKEN"), text);
  }

  /** Tells whether an answer lacks everything that only a status shows: the target took the path for another. */
  #isOfNoStatus({ operation, method }: Shot, { status }: Raw, body: unknown): boolean {
    if (operation !== "status" || method === "HEAD" || status !== 200 || !isPlainObject(body)) return false;
    const pointers = this.#wire.readings
      .filter(({ on }) => on.every((kind) => kind === "status"))
      .flatMap((row) => Object.keys(row.body));
    return pointers.length > 0 && pointers.every((pointer) => pointed(body, pointer).length === 0);
  }

  #members(shot: Shot, { status, error }: Raw, headers: Answer["headers"], body: unknown) {
    if (status === 0) return { ...noAnswer, error: error ?? "no answer" };
    const isStatus = shot.operation === "status";
    const quotas = usedQuotas(this.#policy, shot.operation, shot.attributes);
    const refusal = () => refusalFacts(this.#policy, shot.operation, shot.attributes, shot.cost);
    const read = readAnswer(
      this.#wire,
      { status, headers, body },
      { quotas, isStatus, method: shot.method, refusal },
    );
    const members = answerMembers(read, this.#quotas);
    const date = Date.parse(headers["date"] ?? "");
    const outcome = shot.isVague === true && status >= 400 ? "unknown" : members.outcome;
    return { ...members, outcome, date: Number.isFinite(date) ? date : undefined };
  }

  #addPlain(shot: Shot, raw: Raw, headers: Answer["headers"], text: string, number: number): void {
    const { attributes, method, operation, caller, cost } = shot;
    const { organization = "", user = null } = attributes;
    // The caller is unknown, so no quota counts the call.
    if (caller === null) return;
    const isGraphql = operation === "graphql";
    const seen = readSeen(
      {
        number: number + 1,
        what: method,
        user,
        scope: isGraphql ? "graphql" : "rest",
        isStatus: operation === "status" && method === "GET",
        isExempt: operation === "status",
        points: isGraphql ? cost : null,
        sentMs: raw.sentMs,
      },
      raw.status === 0 ? null : { status: raw.status, headers, body: text },
      raw.receivedMs,
      raw.error,
      "$TOKEN",
    );
    this.plain.push({ ...traceCall(seen, organization), client: "audit/0" });
  }

  /** Returns the whole trace of version 2, in the order of its lines. */
  text(): string {
    const header = JSON.stringify(this.header);
    return `${[header, ...this.calls.map(encodeQuotaCall)].join("\n")}\n`;
  }
}
