// The answers to one client under a policy, recorded as they come: the line of each, by quota, and what the client is
// told of it, in the simulator's form.
import { refusalFacts, usedQuotas } from "../policy/effective.ts";
import type { Policy } from "../policy/policy.ts";
import { wireOf } from "../policy/presets.ts";
import type { AnswerKind, WireData } from "../policy/wire-data.ts";
import type { CallTemplate, ClientEvent } from "../scenario/client.ts";
import { type OperationCall, policyCall } from "../scenario/policy-calls.ts";
import { toldOf } from "../scenario/policy-told.ts";
import { answerMembers, noAnswer } from "../trace/quota-answer.ts";
import { encodeQuotaCall } from "../trace/quota-lines.ts";
import type { QuotaCall } from "../trace/quota-record.ts";
import { REFUSED } from "../wire/outcome.ts";
import { readAnswer } from "../wire/read-answer.ts";
import type { RawAnswer } from "./answer.ts";
import type { Caller } from "./callers.ts";
import type { AnswerLedger, LedgerPage } from "./ledger.ts";

/** Parts of a policy that all clients of a run share. */
export class PolicyBook {
  readonly policy: Policy;
  readonly wire: WireData;
  readonly quotas: ReadonlySet<string>;
  /** True if bodies are read, and not headers alone. */
  readonly readsBodies: boolean;
  /** Kinds of answer whose bodies show quotas. */
  readonly #shownInBodies: ReadonlySet<AnswerKind>;

  constructor(policy: Policy) {
    this.policy = policy;
    this.wire = wireOf(policy);
    this.quotas = new Set(Object.keys(policy.quotas));
    const { readings, outcomes, retryAfter } = this.wire;
    this.#shownInBodies = new Set(
      readings.flatMap(({ on, body }) => (Object.keys(body).length > 0 ? on : [])),
    );
    this.readsBodies =
      [...readings, ...outcomes].some(({ body }) => Object.keys(body).length > 0) ||
      retryAfter.some((place) => "pointer" in place);
  }

  /** Tells whether a body that is no JSON hides a reading: it was cut off, or quotas should be in it. */
  isLost(body: unknown, kind: AnswerKind): boolean {
    return this.#shownInBodies.has(kind) || (typeof body === "string" && /^\s*[[{]/.test(body));
  }
}

const hasNext = /(?:^|,)[^,]*;\s*rel="?next"?/i;
/** Greatest length of a body that is read, characters. */
const bodyMost = 1 << 24;

export class PolicyLedger implements AnswerLedger {
  /** Always `null`: the verdict judges answers, and no check is made of a single one. */
  readonly fault = null;
  isRefusal = false;
  isCounted = true;
  readonly #book: PolicyBook;
  readonly #name: string;
  readonly #caller: Caller;

  /** @param name `population/index` */
  constructor(book: PolicyBook, name: string, caller: Caller) {
    this.#book = book;
    this.#name = name;
    this.#caller = caller;
  }

  page(template: CallTemplate): LedgerPage {
    const { policy } = this.#book;
    const asked = policyCall(policy, template, this.#caller);
    const used = usedQuotas(policy, asked.operation, asked.caller);
    return {
      template,
      take: (call, planned, answer, sentMs, receivedMs, event) => {
        const read = this.#read(template, asked, used, answer);
        tell(event, policy, { ...read, received: receivedMs }, answer);
        this.isRefusal = read.outcome === "refused";
        this.isCounted = asked.operation !== "status" && asked.operation !== "other" && answer.status !== 0;
        return encodeQuotaCall({
          sent: sentMs,
          received: receivedMs,
          client: this.#name,
          call,
          ...read,
          wanted: planned.wantedMs,
          attempt: planned.attempt,
        });
      },
    };
  }

  #read(
    template: CallTemplate,
    asked: OperationCall,
    quotas: readonly string[],
    { status, headers, body, error }: RawAnswer,
  ): Answered {
    const isStatus = asked.operation === "status";
    const isFree = isStatus || asked.operation === "other";
    const about = { ...asked, cost: isFree ? null : template.cost, status };
    if (status === 0) return { ...about, ...noAnswer, error: error.slice(0, 200) || "no answer" };
    const { policy, wire } = this.#book;
    const parsed = this.#book.readsBodies ? parsedBody(body) : undefined;
    const read = readAnswer(
      wire,
      { status, headers, ...(parsed === undefined ? {} : { body: parsed.value }) },
      {
        ...{ quotas, isStatus, method: template.method },
        refusal: () => refusalFacts(policy, asked.operation, asked.caller, template.cost),
      },
    );
    const members = answerMembers(read, this.#book.quotas);
    const kind = isStatus ? "status" : read.outcome === "refused" ? "refused" : "admitted";
    const isLost = parsed?.isJson === false && this.#book.isLost(body, kind);
    const date = Date.parse(headers["date"] ?? "");
    return {
      ...about,
      ...members,
      date: Number.isFinite(date) ? date : undefined,
      unread: isLost ? [...(members.unread ?? []), "body"] : members.unread,
    };
  }
}

type Answered = Omit<QuotaCall, "sent" | "received" | "client" | "call">;

/** Returns a body as JSON. A body that is no JSON tells nothing. */
function parsedBody(body: unknown): { readonly value: unknown; readonly isJson: boolean } | undefined {
  if (typeof body !== "string" || body === "") return undefined;
  try {
    if (body.length <= bodyMost) return { value: JSON.parse(body) as unknown, isJson: true };
  } catch {
    // `isJson` says it.
  }
  return { value: undefined, isJson: false };
}

function tell(
  event: ClientEvent,
  policy: Policy,
  read: Answered & { readonly received: number },
  { headers }: RawAnswer,
): void {
  Object.assign(event, toldOf(policy, read, read.received));
  event.nowMs = read.received;
  event.status = read.outcome === "refused" ? REFUSED : read.status;
  event.hasNextPage = hasNext.test(headers["link"] ?? "");
}
