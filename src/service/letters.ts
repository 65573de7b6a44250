// Counters in another process. Letters over Node's channel between parent and child ask them: one letter a question,
// one an answer. Letters may cross.
import type { Call, Decision, Readings, Reservation, Status } from "../engine/adapter.ts";
import type { RemoteStore, Store } from "../engine/store.ts";
import type { Scope } from "../rules/rules.ts";

/** A question to counters in another process. They use their own clock, so a question has no time. */
export type CounterQuestion =
  | { readonly ask: "decide"; readonly call: Call }
  | { readonly ask: "settle"; readonly reservation: Reservation; readonly actual: number }
  | { readonly ask: "status"; readonly organization: string }
  | {
      readonly ask: "readings";
      readonly organization: string;
      readonly user: string;
      readonly scope: Scope;
    };

export interface Letter {
  readonly number: number;
  readonly question: CounterQuestion;
}

/** The answer to the letter of a number, or the reason for its absence. */
export type Reply =
  | { readonly number: number; readonly answer: object }
  | { readonly number: number; readonly failure: string };

interface Waiting {
  resolve(answer: object): void;
  reject(error: Error): void;
}

/** The asking side. */
export class RemoteCounters implements RemoteStore {
  readonly #post: (letter: Letter) => void;
  readonly #waiting = new Map<number, Waiting>();
  #letters = 0;

  /** @param post sends a letter; the reply to it goes to `take` */
  constructor(post: (letter: Letter) => void) {
    this.#post = post;
  }

  decide(call: Call): Promise<Decision> {
    return this.#ask({ ask: "decide", call });
  }

  settle(reservation: Reservation, actual: number): Promise<Readings> {
    return this.#ask({ ask: "settle", reservation, actual });
  }

  status(organization: string): Promise<Status> {
    return this.#ask({ ask: "status", organization });
  }

  readings(organization: string, user: string, scope: Scope): Promise<Readings> {
    return this.#ask({ ask: "readings", organization, user, scope });
  }

  /** Does nothing: the other side sweeps by itself. */
  sweep(): void {}

  take(reply: Reply): void {
    const waiting = this.#waiting.get(reply.number);
    this.#waiting.delete(reply.number);
    if ("answer" in reply) waiting?.resolve(reply.answer);
    else waiting?.reject(new Error(reply.failure));
  }

  #ask<T extends object>(question: CounterQuestion): Promise<T> {
    this.#letters += 1;
    const number = this.#letters;
    return new Promise<T>((resolve, reject) => {
      // The other side answers each question with the result of its store's method, which has the type `T`.
      this.#waiting.set(number, { resolve: (answer) => resolve(answer as T), reject });
      this.#post({ number, question });
    });
  }
}

/** Answers a letter from the counters, by this process's clock. */
export function answerLetter(store: Store, { number, question }: Letter, nowMs: number): Reply {
  try {
    return { number, answer: answerOf(store, question, nowMs) };
  } catch (error) {
    return { number, failure: error instanceof Error ? error.message : String(error) };
  }
}

function answerOf(store: Store, question: CounterQuestion, nowMs: number): object {
  switch (question.ask) {
    case "decide":
      return store.decide(question.call, nowMs);
    case "settle":
      return store.settle(question.reservation, question.actual, nowMs);
    case "status":
      return store.status(question.organization, nowMs);
    case "readings":
      return store.readings(question.organization, question.user, question.scope, nowMs);
  }
}
