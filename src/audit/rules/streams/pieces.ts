import { promisedSql } from '../../../contract/request.ts'
import { sqlRule } from '../sql-rule.ts'

/** A stream this long that was buffered until its end is reported alone. */
const longUs = 10_000_000

/**
 * Streams with enough text to judge. One without its right end shows as well as any that the service streams; only whole ones are accused.
 *
 *     text events   |  |  |  |  |  |  |  |
 *     in pieces     r  r  r  r  r  r  r  r     a read for each, or for a few
 *     joined        r        r        r        many events in each read, and 50 ms or more from read to read
 *     held                             r r     all text in a tenth of the time of the stream: buffered until its end
 *
 * `paced_us` is how long a stream takes at the median time per event.
 */
const streamsSql = `streams AS (
        SELECT *, closed_us - sent_us AS took_us,
          content_events * median((closed_us - sent_us) / content_events) OVER () AS paced_us,
          content_reads <= 1 OR (content_events >= 50 * content_reads
            AND 10 * (last_content_us - first_content_us) <= closed_us - sent_us) AS held,
          held OR (content_events >= 10 * content_reads
            AND closed_us - sent_us >= 50000 * content_reads) AS joined
        FROM seen
        WHERE ${promisedSql} AND outcome IN ('ok', 'broken', 'aborted', 'timeout') AND content_events >= 8)`

/**
 * Those that were not too fast. `bound_us` is how late this client is with exchanges that generate nothing, 100 ms at least:
 *
 *     in pieces    took_us >= bound_us                               shows that the service streams, at any pace
 *     joined       the same, and paced_us >= bound_us or 10 s        the median stream of so many events would be slow enough, too;
 *                                                                    otherwise this one was late, not long
 */
const tellingSql = `telling AS (
        SELECT *, bool_and(joined) OVER ()
            AND count(*) FILTER (outcome = 'ok') OVER () >= 5 AS all_joined
        FROM streams, (
          SELECT greatest(100000, 10 * coalesce(quantile_cont(closed_us - sent_us, 0.9), 0)) AS bound_us
          FROM seen
          WHERE status >= 400 OR (outcome = 'ok' AND NOT ${promisedSql}))
        WHERE took_us >= bound_us
          AND (NOT joined OR paced_us >= bound_us OR took_us >= ${longUs}))`

/** When the client itself stalled for 10 ms or more: by its record of delays, and by requests that it sent late. */
const stallsSql = `stalls(run_id, from_us, until_us, stall_us) AS (
        SELECT run_id, at_us - greatest(loop_delay_p99_us, loop_gap_us) - 1000000, at_us,
          greatest(loop_delay_p99_us, loop_gap_us)
        FROM health WHERE shard >= 0 AND greatest(loop_delay_p99_us, loop_gap_us) >= 10000
        UNION ALL
        SELECT run_id, intended_us, dispatched_us, dispatched_us - intended_us
        FROM seen WHERE dispatched_us - intended_us >= 10000)`

/** Whether the client stalled during a stream: for a tenth of the time of one that was held, for half of the time of a read of another. */
const stalledSql = `EXISTS (
      SELECT 1 FROM stalls
      WHERE stalls.run_id = telling.run_id
        AND if(held, 10, 2 * content_reads) * stall_us >= took_us
        AND until_us >= sent_us AND from_us <= closed_us)`

/** A joined stream that is reported: one of many that were all joined, or one that was held for ten seconds. */
const reportedSql = `outcome = 'ok' AND (all_joined OR (held AND took_us >= ${longUs})) AND NOT ${stalledSql}`

export const sse06 = sqlRule({
  id: 'SSE-06',
  title: 'Streams come piece by piece',
  section: '§6',
  severity: 'advice',
  explain: `A stream of eight or more text events that all arrived in one read was buffered until
its end. So was a stream whose text came within a tenth of its time, with fifty or more events per
read. A stream with ten or more events per read, and 50 ms or more for each read, was buffered piece by piece between
the service and here, as by a proxy that waits for full buffers. The network or a busy client may join a stream, so a joined stream is reported
only if all of at least five were joined: a single incremental stream, also one that was cut, shows that the service can stream.
A stream of ten seconds or more that was buffered until its end is reported alone.
Some streams are too fast to judge: those that ended within 100 ms, or within ten times the duration of exchanges
without generation (reads and errors, the 90th percentile), because a client that is this late with those finds a
whole stream waiting. Also those that would have been as fast at the median time per event: they were
late, not long. A stream during which the client itself stalled for a tenth of its
time, or for half of the time of a read, by its own record of delays or by a request that it sent this late, is not reported.`,
  expected: 'text that arrives at more than one time',
  observe: () => `
    WITH
      ${streamsSql},
      ${tellingSql},
      ${stallsSql}
    SELECT run_id, slot, retry,
      CASE WHEN joined AND content_reads <= 1 THEN 'all text in one read'
           WHEN held THEN 'all text in ' || content_reads || ' reads within a tenth of its time'
           WHEN joined THEN content_events || ' events of text in ' || content_reads
             || ' reads: buffered between the service and here' END AS observed
    FROM telling
    WHERE NOT joined OR (${reportedSql})`,
  requires:
    'a stream of 100 ms or more with eight or more events of text that comes in pieces, or five that do not',
})
