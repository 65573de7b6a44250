// The calls that each window's owner was admitted in a run, with the final charge of each: the laws
// on spans of time add it up.
import { lacksRoom } from "./decisions.ts";
import { nameOf, type Sight, type WindowKey } from "./ledger.ts";

/** One admitted call in one window. */
export interface Admitted {
  /** Index of the call in the history. */
  readonly at: number;
  readonly clockMs: number;
  /** Its charge in the end. */
  charge: number;
  window: number | null;
  /** The window had room when it was admitted: under postpaid its overshoot is legal. */
  readonly excused: boolean;
}

/** Calls that one window's owner was admitted in the whole run. */
export interface Track {
  readonly key: WindowKey;
  readonly limit: number;
  readonly lengthMs: number;
  readonly postpaid: boolean;
  enforced: boolean;
  readonly calls: Map<number, Admitted>;
}

/** The tracks of windows that were enforced all the time. */
export const enforcedTracks = (sights: Iterable<Sight>): Track[] =>
  [...tracksOf(sights).values()].filter(({ enforced }) => enforced);

function tracksOf(sights: Iterable<Sight>): Map<string, Track> {
  const tracks = new Map<string, Track>();
  for (const sight of sights) {
    const { event } = sight;
    const track = trackOf(tracks, sight);
    if ("decision" in event) {
      track.enforced &&= sight.enforced;
      if (!event.decision.admitted) continue;
      const excused = lacksRoom(sight, event.op.cost, sight.before) !== true;
      const charge = sight.charge?.least ?? 0;
      const { at, clockMs, window } = sight;
      track.calls.set(event.op.id, { at, clockMs, charge, window, excused });
    } else if ("readings" in event) {
      const call = track.calls.get(event.op.id);
      if (call === undefined) continue;
      call.charge += (sight.charge?.least ?? 0) - sight.givenBack;
      call.window ??= sight.window;
    }
  }
  return tracks;
}

function trackOf(tracks: Map<string, Track>, sight: Sight): Track {
  const key = nameOf(sight);
  let track = tracks.get(key);
  if (track === undefined) {
    const postpaid = sight.scope === "graphql" && sight.semantics.graphqlCharge === "postpaid";
    const { limit, lengthMs } = sight;
    track = { key: sight, limit, lengthMs, postpaid, enforced: true, calls: new Map() };
    tracks.set(key, track);
  }
  return track;
}
