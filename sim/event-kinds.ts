// The events of virtual time: an event is one of these, and its subject (a client, a stream of arrivals, a
// planned call, a flight) times 8.

/** A client of a closed population begins. */
export const START = 0;
/** The next client of an open population arrives. */
export const ARRIVAL = 1;
/** A planned call leaves its client. */
export const SEND = 2;
/** It reaches the deployment. */
export const ARRIVE = 3;
/** A decision that takes its time goes on. */
export const RESUME = 4;
/** A query has run. */
export const COMPLETE = 5;
/** An answer reaches the client, or its time-out is over. */
export const RECEIVE = 6;
export const KIND_BITS = 3;
