/**
 * Evidence of verdicts that is stored apart from the rows: requests (one for each template), the
 * bodies that the scenario captures, and the first wrong answers.
 */

/** A request without its key, enough for a `curl` command that repeats it. */
export interface TemplateRow {
  readonly runId: string
  readonly template: number
  readonly step: string
  readonly method: string
  readonly path: string
  /** JSON object of the request's own headers; the key is replaced by `$ASSAY_API_KEY`. */
  readonly headers: string
  readonly body: string | null
  readonly maxTokens: number | null
  readonly n: number | null
  /** Hash of the model and all that is part of the prompt: equal prompts must cost equal prompt tokens. */
  readonly promptHash: string | null
}

/** First number of templates of unique prompts: one for each step and number of tokens. */
export const firstUniqueTemplate = 1 << 30

/** Whether requests of this template have prompts of their own, of which its body has one: it is no evidence of theirs. */
export const isSharedTemplate = ({
  template,
  promptHash,
}: {
  readonly template: number | null
  readonly promptHash: string | null
}): boolean => template !== null && template >= firstUniqueTemplate && promptHash === null

/** The same of a row of `templates`; false without one. */
export const sharedTemplateSql = `coalesce(templates.template >= ${firstUniqueTemplate} AND templates.prompt_hash IS NULL, false)`

/** A response of bounded size, with every occurrence of the key replaced by `[key]`. */
export interface BodyRow {
  readonly runId: string
  readonly slot: number
  readonly retry: number
  /** Header lines as received, `name: value` separated by \n. */
  readonly headers: string
  readonly body: string
  /** Whether the end of the body is missing. */
  readonly truncated: boolean
}

/** An answer that is wrong, or could not be checked. */
export interface WrongAnswerRow {
  readonly runId: string
  readonly slot: number
  readonly retry: number
  /** What it lacks, in words. */
  readonly why: string
  /** Its text or its tool calls, cut, with every occurrence of a key replaced. */
  readonly answer: string
}

/** A task as a whole. */
export interface TaskRow {
  readonly runId: string
  /** As in the rows of its attempts. */
  readonly session: number
  readonly task: string
  readonly phase: string
  readonly part: string
  /** Its planned start, and the end of its last request, or when its deadline cut it off. */
  readonly intendedUs: number
  readonly endedUs: number
  /** `ok`, `failed`, `deadline`, or `stopped` with the run. */
  readonly outcome: string
  /** Requests that ended. */
  readonly requests: number
  /** Requests that had ended before it started; 0 if it started at its start. */
  readonly skipped: number
  /** Delays on the path of requests that decided when it ended. */
  readonly waitUs: number
}
