// Marks by hand: what one answer says about one window.
import type { Mark } from "../../src/verify/mark.ts";

/** An admitted call of one point that is told count 1 of 10, but for what is given; it is received when it is sent. */
export const markOf = (given: Partial<Mark> = {}): Mark => ({
  line: 2,
  sent: 0,
  received: given.sent ?? 0,
  role: "admitted",
  refusedBy: null,
  cost: 1,
  asked: 1,
  actual: null,
  sure: true,
  limit: 10,
  count: 1,
  clamped: false,
  reset: 60,
  resetAt: null,
  echoesUser: false,
  end: { from: 0, to: 0 },
  least: 1,
  most: 1,
  held: 1,
  ...given,
});
