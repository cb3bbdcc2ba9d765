export const answerTimeColumns = ['queueUs', 'prefillUs', 'decodeUs'] as const
type AnswerTime = (typeof answerTimeColumns)[number]

const [millisecond, second] = [1000, 1e6]

/**
 * Where an answer states the times of its parts: a member's path, its column, its unit in microseconds. vLLM has `metrics`
 * (whose first-token time begins when the request is scheduled), llama.cpp `timings`, Groq times in `usage`.
 */
export const answerTimes: readonly (readonly [path: string, column: AnswerTime, unitUs: number])[] =
  [
    ['metrics.queue_time_ms', 'queueUs', millisecond],
    ['metrics.time_to_first_token_ms', 'prefillUs', millisecond],
    ['metrics.generation_time_ms', 'decodeUs', millisecond],
    ['timings.prompt_ms', 'prefillUs', millisecond],
    ['timings.predicted_ms', 'decodeUs', millisecond],
    ['usage.queue_time', 'queueUs', second],
    ['usage.prompt_time', 'prefillUs', second],
    ['usage.completion_time', 'decodeUs', second],
  ]

/** The times that one answer states: NaN for one that it does not, which is not 0. */
export class AnswerTimes {
  queueUs = Number.NaN
  prefillUs = Number.NaN
  decodeUs = Number.NaN
  isKnown = false

  /** Takes a value of `answerTimes`; in a stream the last one counts. A time that cannot be is not known. */
  take(place: number, value: number): void {
    const [, column, unitUs] = answerTimes[place]!
    const us = Math.round(value * unitUs)
    this[column] = us >= 0 && us <= longestUs ? us : Number.NaN
    this.isKnown = true
  }

  clear(): void {
    if (!this.isKnown) return
    this.queueUs = Number.NaN
    this.prefillUs = Number.NaN
    this.decodeUs = Number.NaN
    this.isKnown = false
  }
}

/** A day. */
const longestUs = 86_400e6
