import type { Latencies, LatencyHistory, LatencyHistoryQuery, RecentLatencies } from '@lockstep/shared/api';

/** What the routes of the latencies need of the running agent. */
export interface LatencyFacade {
  latencies(): Latencies;
  /** Throws where one of the two is no member. */
  latencyHistory(query: LatencyHistoryQuery): LatencyHistory;
  recentLatencies(): RecentLatencies;
}
