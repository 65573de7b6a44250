// The events of virtual time: an event is one of these kinds plus 8 times its subject (a client, a stream of arrivals,
// a planned call, a flight).

/** A client of a closed population begins. */
export const START = 0;
/** The next client of an open population arrives. */
export const ARRIVAL = 1;
/** A planned call leaves its client. */
export const SEND = 2;
/** A call reaches the deployment. */
export const ARRIVE = 3;
/** A decision that takes time goes on. */
export const RESUME = 4;
/** A query has finished running. */
export const COMPLETE = 5;
/** An answer reaches the client, or the client's time-out ends. */
export const RECEIVE = 6;
export const KIND_BITS = 3;

/** Returns an event as the queue holds it. */
export const eventOf = (kind: number, subject: number): number => (subject << KIND_BITS) | kind;
