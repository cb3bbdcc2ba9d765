import { measures } from '../../measure/measures.ts'
import type { Reader } from '../../store/session/session.ts'

/** Means over the successes that count and are of the kind that most of them are: streams or plain answers, with a time in the queue or without; microseconds. */
export interface AnswerTimes {
  /** Successes that state them, of all that count. */
  readonly answers: number
  readonly of: number
  readonly streamed: boolean
  /** Mean TTFT of these streams, or their service time if none of them is a stream. */
  readonly clientUs: number
  /** Null is not stated. */
  readonly queueUs: number | null
  readonly prefillUs: number
  readonly decodeUs: number | null
}

/**
 * What answers state of their own times: `metrics` of vLLM, `timings` of llama.cpp. The mean of a part is over the same
 * requests as the mean of the client, so that they add up.
 *
 * @returns null for a run whose answers state no prefill
 */
export async function readAnswerTimes(store: Reader, runId: string): Promise<AnswerTimes | null> {
  const [row] = await store.rows<AnswerTimes>(
    `WITH counting AS (
       FROM attempt_values WHERE run_id = $1 AND counted AND succeeded
     ), usual_kind AS (
       SELECT streamed, (queue_us IS NULL) AS without_queue, count(*) AS n FROM counting
       WHERE prefill_us IS NOT NULL AND (streamed = 0 OR first_content_us IS NOT NULL)
       GROUP BY ALL ORDER BY n DESC, streamed DESC, without_queue LIMIT 1
     )
     SELECT count(*)::INTEGER AS answers,
       (SELECT count(*) FROM counting WHERE streamed = any_value(usual_kind.streamed))::INTEGER AS "of",
       any_value(usual_kind.streamed) = 1 AS streamed,
       avg(if(streamed = 1, ttft_us, service_us))::DOUBLE AS "clientUs",
       avg(queue_us)::DOUBLE AS "queueUs", avg(prefill_us)::DOUBLE AS "prefillUs",
       if(count(decode_us) = count(*), avg(decode_us), NULL)::DOUBLE AS "decodeUs"
     FROM counting JOIN usual_kind USING (streamed)
     WHERE prefill_us IS NOT NULL AND (streamed = 0 OR first_content_us IS NOT NULL)
       AND (queue_us IS NULL) = without_queue
     HAVING count(*) > 0`,
    [runId],
  )
  return row ?? null
}

const ms = (us: number) =>
  `${us < 10_000 ? Number((us / 1000).toPrecision(2)) : Math.round(us / 1000)} ms`

/** One sentence on the mean TTFT, or on the mean service time of plain answers; null if the parts exceed it. */
export function answerTimesWords(times: AnswerTimes): string | null {
  const { answers, of, streamed, clientUs, queueUs, prefillUs, decodeUs } = times
  const decode = streamed ? 0 : decodeUs
  if (decode === null) return null
  const outsideUs = clientUs - (queueUs ?? 0) - prefillUs - decode
  if (outsideUs < 0) return null
  const title = streamed ? measures.ttft.title : 'Service time'
  const parts = [
    ...(queueUs === null ? [] : [`${ms(queueUs)} in the queue`]),
    `${ms(prefillUs)} prefill`,
    ...(streamed ? [] : [`${ms(decode)} decode`]),
    `${ms(outsideUs)} ${queueUs === null ? 'in a queue or ' : ''}outside the service`,
  ]
  const whose = answers === of ? 'answers state it' : `${answers} of ${of} answers state it`
  return `${title} mean ${ms(clientUs)}: ${parts.join(', ')} (${whose}).`
}
