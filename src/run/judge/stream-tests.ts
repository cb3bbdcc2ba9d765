import { countedOfRun } from '../../measure/standings.ts'
import type { Session } from '../../store/session/session.ts'
import { milliseconds, type RunTest } from './run-test.ts'

/** How the text of the streams of a run arrived; medians over its streams of eight or more events with text. */
export interface StreamFigures {
  readonly streams: number
  readonly events: number
  readonly reads: number
  readonly tookUs: number
  /** Answers, and their events, with a member of a delta that no format has. */
  readonly unknownAnswers: number
  readonly unknownEvents: number
  readonly unknownMember: string | null
}

/** Null for a run without streams. Streams are those of the steady part, or all if there is none. */
export async function readStreams(session: Session, runId: string): Promise<StreamFigures | null> {
  const long = 'outcome = $2 AND content_events >= 8'
  const [row] = await session.rows<StreamFigures & { readonly all: number }>(
    `SELECT count(*) AS "all", count(*) FILTER (${long}) AS streams,
       median(content_events) FILTER (${long}) AS events,
       median(content_reads) FILTER (${long}) AS reads,
       median(closed_us - sent_us) FILTER (${long}) AS "tookUs",
       count(*) FILTER (unknown_events > 0) AS "unknownAnswers",
       coalesce(sum(unknown_events), 0)::BIGINT AS "unknownEvents",
       mode(unknown_member) AS "unknownMember"
     FROM attempts WHERE run_id = $1 AND streamed = 1 AND events > 0 AND ${countedOfRun}`,
    [runId, 'ok'],
  )
  return row!.all === 0 ? null : row!
}

/** Events with text in one read from which on they were joined on their way. */
const joinedEvents = 5
/** Shorter streams may arrive whole in one turn of our own event loop. */
const shortestUs = 50_000

/** What of this machine may join events, too. */
export interface OwnDelay {
  /** Of the event loops of the sending threads. */
  readonly delayP99Us: number
  /** Whether a test of their delays or gaps does not hold. */
  readonly wasLate: boolean
  /** Load average of the last minute for each core, at the end of the run; null if it is not known. */
  readonly loadPerCore: number | null
}

/**
 * Shown only if a test does not hold: streams whose text was joined on its way, and text that may not be known. A
 * proxy is blamed only if this client was not late, and had a core.
 */
export function streamTests(
  figures: StreamFigures | null,
  { delayP99Us, wasLate, loadPerCore }: OwnDelay,
): readonly RunTest[] {
  if (figures === null) return []
  const { streams, events, reads, tookUs } = figures
  const tests: RunTest[] = []
  const isBusy = loadPerCore !== null && loadPerCore > 1
  const isJoined = streams > 0 && events >= joinedEvents * reads
  // Half of the streams have so few reads; our own delays join so many events only if they are as long as a read.
  if (isJoined && !wasLate && tookUs >= shortestUs && 2 * delayP99Us * reads < tookUs) {
    tests.push({
      name: 'streams',
      result: 'degraded',
      figure: `${events} events with text in ${reads} ${reads === 1 ? 'read' : 'reads'} of ${milliseconds(tookUs)} (median of ${streams})`,
      bound: `fewer than ${joinedEvents} events in a read`,
      remedy: isBusy
        ? `This machine had more work than cores (load ${loadPerCore.toFixed(1)} per core), which joins events as well: leave cores free, and run again before you look for a buffer on the way.`
        : 'Your stream is buffered between the service and here, so TTFT, ITL and TPOT are those of the buffer: turn off the buffering of the proxy (proxy_buffering off in nginx), or measure at the service.',
    })
  }
  if (figures.unknownEvents > 0) {
    tests.push({
      name: 'text of streams',
      result: 'degraded',
      figure: `${figures.unknownEvents} events of ${figures.unknownAnswers} answers have ${JSON.stringify(figures.unknownMember)} in their delta`,
      bound: 'members that a format has',
      remedy:
        'If that is text, it was not counted, and TTFT, ITL and TPOT are wrong: please report the member. If it is not, the figures hold.',
    })
  }
  return tests
}
