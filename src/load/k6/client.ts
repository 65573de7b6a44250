// One client in k6: its calls over HTTP, a line and a check for each answer.
import { check } from "k6";
import http from "k6/http";
import { Rate, Trend } from "k6/metrics";
import { callPath, callQuery } from "../../scenario/calls.ts";
import type { CallTemplate, PlannedCall } from "../../scenario/client.ts";
import type { Population } from "../../scenario/scenario.ts";
import { type Answer, type Reading, readAnswer, readingOf } from "../answer.ts";
import { callLine, type LineParts, lineParts } from "../call-line.ts";
import type { World } from "../drive.ts";
import { type HeaderBounds, headerBounds, headerFault, LoneUser } from "../response-checks.ts";
import { metricNames, refusalsExpected } from "../thresholds.ts";
import type { Caller, Settings } from "./settings.ts";

const refusedRate = new Rate(metricNames.refused);
const waitTrend = new Trend(metricNames.wait, true);
/** One `check` a response, which names what failed: five cost a tenth of the throughput. */
const passed = { "answer as the rules say": () => true };
const failed = (): boolean => false;

/** What stays the same for all calls of one template. */
interface Prepared {
  readonly template: CallTemplate;
  readonly line: LineParts;
  readonly bounds: HeaderBounds;
  readonly body: string | null;
  readonly params: object;
}

/** The world of one client. */
export class Client implements World {
  readonly #settings: Settings;
  readonly #caller: Caller;
  readonly #prepared: readonly Prepared[];
  readonly #lone: LoneUser | null;
  #calls = 0;

  constructor(settings: Settings, population: Population, name: string, caller: Caller) {
    this.#settings = settings;
    this.#caller = caller;
    this.#lone = population.user === "each" && !settings.shared ? new LoneUser() : null;
    this.#prepared = population.behaviour.calls.map((template) => this.#prepare(template, population, name));
  }

  #prepare(template: CallTemplate, population: Population, name: string): Prepared {
    const { organization, user, token } = this.#caller;
    const { scenario, timeoutMs } = this.#settings;
    const isQuery = template.scope === "graphql";
    const expected = { min: 200, max: 399 };
    return {
      template,
      line: lineParts(name, organization, user, template),
      bounds: headerBounds(scenario.rules, organization, user, template.scope),
      body: isQuery ? JSON.stringify({ query: callQuery(template, organization) }) : null,
      params: {
        headers: {
          Authorization: `Bearer ${token}`,
          ...(isQuery ? { "Content-Type": "application/json" } : {}),
        },
        // k6 groups its metrics by this rather than by each page's URL.
        tags: { name: template.name },
        timeout: timeoutMs,
        redirects: 0,
        responseCallback: refusalsExpected(scenario.expect, population.name)
          ? http.expectedStatuses(expected, 429)
          : http.expectedStatuses(expected),
      },
    };
  }

  now(): number {
    return Date.now();
  }

  async send(planned: Readonly<PlannedCall>): Promise<Reading> {
    const prepared = this.#prepared[planned.template];
    if (prepared === undefined) throw new RangeError(`the behaviour has no call ${planned.template}`);
    const { template, params, body } = prepared;
    const { base, graphqlUrl } = this.#settings;
    const { organization, token } = this.#caller;
    const url = body === null ? base + callPath(template, organization, planned.page) : graphqlUrl;
    const call = this.#calls;
    this.#calls += 1;
    this.#lone?.sent();
    const sentMs = Date.now();
    const response = await http.asyncRequest(template.method, url, body, params);
    const receivedMs = Date.now();
    const { status, headers, body: text, error_code: errorCode } = response;
    const answer = readAnswer(
      template,
      { status, headers, body: text, errorCode },
      sentMs,
      receivedMs,
      token,
    );
    console.log(callLine(prepared.line, call, planned, answer));
    this.#measure(prepared, planned, answer);
    return readingOf(answer);
  }

  #measure({ template, bounds }: Prepared, planned: Readonly<PlannedCall>, answer: Answer): void {
    const lone = this.#lone?.answered(template, answer) ?? null;
    const fault = headerFault(answer, template.scope, bounds) ?? lone;
    if (fault === null) check(null, passed);
    else check(null, { [fault]: failed });
    if (answer.kind !== "call" || answer.status === 0) return;
    const refused = answer.status === 429;
    refusedRate.add(refused);
    if (!refused) waitTrend.add(answer.receivedMs - planned.wantedMs);
  }
}
